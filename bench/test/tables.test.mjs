import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columns, complete, readable } from '../lib/measures.mjs';
import { readmeText, resultsText, spliced } from '../lib/pages.mjs';
import { anchor, caseText, claimsText } from '../lib/tables.mjs';

const machine = { cpu: 'Abacus 9', cores: 2, memory_gb: 8, kernel: '6.1', governor: 'not readable', load_before: 0.25, node: 'v20.0.0' };
const run = (contestant, cpu_us, more = {}) => ({ contestant, command: `taskset -c 0 ${contestant}`, measures: { cpu_us, ...more } });
const result = {
  case: 'echo',
  title: 'Echo, 50 connections',
  about: 'There and back.',
  operation: 'message',
  headline: 'cpu_us',
  columns: columns({ operation: 'message', measures: { cpu_share: false, peak_mb: false } }),
  claims: [{ says: '≥ 1.4 × better than k6', measure: 'cpu_us', of: 'k6', against: 'sonagi', atLeast: 1.4 }],
  date: '2026-01-02 03:04',
  commit: 'abc1234',
  machine,
  versions: { k6: '2.2.0' },
  rounds: 3,
  rows: [{ name: 'sonagi', tool: 'sonagi', target: 'null' }, { name: 'k6', tool: 'k6', target: 'null' }, { name: 'tsung', tool: 'tsung', target: 'null' }],
  unavailable: [{ name: 'tsung', reason: 'no Erlang here\nhint: install it' }],
  runs: [
    run('sonagi', 6, { target_cpu: 0.5 }), run('k6', 12, { target_cpu: 0.25 }),
    run('sonagi', 8, { target_cpu: 0.5 }), { contestant: 'k6', error: 'it fell over' },
    run('sonagi', 7, { target_cpu: 0.5 }), { ...run('k6', 16, { target_cpu: 0.25 }), falls_short: '3 echoes missing' },
  ],
};

test('a row shows median and range, and how many times better ours is', () => {
  const lines = caseText(result).split('\n');
  assert.ok(lines.includes('| tool | CPU µs per message | target CPU | sonagi is better by |'));
  assert.ok(lines.includes('| sonagi | 7 (6–8) | 50 % |  |'));
  assert.ok(lines.includes('| k6 | 14 (12–16) | 25 % | 2 × |'));
});

test('what is missing, failed or fell short is said under the table', () => {
  const notes = caseText(result).split('\n').filter((line) => line.startsWith('- '));
  assert.deepEqual(notes, [
    '- **tsung**: not available: no Erlang here; hint: install it',
    '- **k6**: 1 of 3 runs failed: it fell over',
    '- **k6** fell short in 1 of 3 runs: 3 echoes missing',
  ]);
});

test('each claim is a line with its verdict and figure', () => {
  assert.equal(claimsText([result]).split('\n')[2], '| [echo](#echo-50-connections) | ≥ 1.4 × better than k6 | **not judged** | 1 of 3 runs of k6 failed |');
  const unmeasured = { ...result, runs: [] };
  assert.match(claimsText([unmeasured]), /\*\*not judged\*\* \| no figure of k6/);
});

test('a claim whose rows fell short or failed says so, in the README, too', () => {
  const whole = { ...result, runs: result.runs.filter(({ error }) => !error) };
  assert.match(claimsText([whole]), /\| met \| 2 × \(k6 ÷ sonagi\); k6 fell short in 1 of 2 runs \|/);
  assert.match(readmeText([whole], [['echo', 'sonagi']]), /k6: 14 \(fell short in 1 of 2 runs\) \|/);
});

test('rows that were not run, rows of fewer rounds and targets at their limit are named', () => {
  const busy = { ...result, unavailable: [], left_out: ['tsung'], rows: [{ ...result.rows[0], rounds: 1 }], runs: [run('sonagi', 6, { target_cpu: 0.97 })] };
  const notes = caseText(busy).split('\n').filter((line) => line.startsWith('- '));
  assert.deepEqual(notes, ['- not run by default: **tsung** (PEERS=all)', '- **sonagi**: the target was the limit (97 % of its core)', '- **sonagi**: in 1 of 3 rounds only']);
});

test('runs that were made again, and what was stolen of those that count, are named', () => {
  const runs = [{ ...run('sonagi', 6), stolen: 0.004, again: 2 }, { ...run('sonagi', 7), stolen: 0.031, again: 3 }, { ...run('k6', 9), stolen: 0.02 }];
  const notes = caseText({ ...result, unavailable: [], runs }).split('\n').filter((line) => line.startsWith('- '));
  assert.deepEqual(notes, ['- **sonagi**: 5 runs made again, as others took the machine’s time; of those that count at most 3.10 %']);
});

test('the row of a busy target says so', () => {
  const shown = (target_cpu) => caseText({ ...result, rows: [result.rows[0]], runs: [run('sonagi', 6, { target_cpu })] }).split('\n').find((line) => line.startsWith('| sonagi'));
  assert.deepEqual([0.69, 0.7, 0.94, 0.95].map(shown), ['69 %', '70 %, busy', '94 %, busy', '95 %, the limit'].map((cell) => `| sonagi | 6 | ${cell} |  |`));
});

test('commands name the target of each row, once', () => {
  const runs = ['sonagi', 'k6'].map((name) => ({ ...run(name, 1), target_command: 'taskset -c 1 sonagi serve' }));
  const text = caseText({ ...result, runs });
  assert.deepEqual(text.split('```')[1].trim().split('\n'), ['taskset -c 1 sonagi serve', 'taskset -c 0 sonagi', 'taskset -c 0 k6']);
});

test('the pages name the machine, the versions and every case', () => {
  const page = resultsText([result]);
  assert.match(page, /Abacus 9, 2 cores, 8 GB, kernel 6\.1/);
  assert.match(page, /k6 2\.2\.0/);
  assert.match(page, /^## Echo, 50 connections$/m);
  assert.match(readmeText([result], [['echo', 'sonagi']]), /^\| \[echo\]\(bench\/RESULTS\.md#echo-50-connections\) \| CPU µs per message \| \*\*sonagi: 7\*\* \| k6: 14 \(fell short in 1 of 3 runs\) \|$/m);
});

test('like is set beside like, all of it in the results and a chosen few in the README', () => {
  const rows = [{ name: 'sonagi', tool: 'sonagi' }, { name: 'k6', tool: 'k6' }, { name: 'sonagi, 10k', tool: 'sonagi' }, { name: 'k6, 10k', tool: 'k6', beside: 'sonagi, 10k' }];
  const runs = [run('sonagi', 1), run('k6', 2), run('sonagi, 10k', 3), run('k6, 10k', 4)];
  const whole = { ...result, rows: rows.map((row) => ({ target: 'null', ...row, beside: row.beside ?? (row.name === 'sonagi, 10k' ? row.name : undefined) })), runs };
  const headlines = (page) => page.split('\n').filter((line) => line.includes('**sonagi')).map((line) => line.split(' | ').slice(2).join(' | '));
  assert.deepEqual(headlines(resultsText([whole])), ['**sonagi: 1** | k6: 2 |', '**sonagi, 10k: 3** | k6, 10k: 4 |']);
  assert.deepEqual(headlines(readmeText([whole], [['echo', 'sonagi, 10k'], ['never run', 'sonagi']])), ['**sonagi, 10k: 3** | k6, 10k: 4 |']);
});

test('the README says how many comparisons there are and how many targets were met', () => {
  const whole = { ...result, runs: result.runs.filter(({ error }) => !error) };
  const missed = { ...whole, claims: [...whole.claims, { says: '≥ 9 × better than k6', measure: 'cpu_us', of: 'k6', against: 'sonagi', atLeast: 9 }] };
  assert.match(readmeText([missed]), /^All 1 comparisons, .* Sonagi meets 1 of the 2 \[targets\]\(bench\/RESULTS\.md#targets\) it set itself\.$/m);
});

test('a section is put between its marks and nowhere else', () => {
  const page = 'a\n<!-- performance:begin -->\nold\n<!-- performance:end -->\nb\n';
  assert.equal(spliced(page, 'new\n'), 'a\n<!-- performance:begin -->\nnew\n<!-- performance:end -->\nb\n');
  assert.throws(() => spliced('no marks', 'new'), /no <!-- performance:begin -->/);
});

test('values keep the digits that matter', () => {
  for (const [value, unit, expected] of [
    [159_500.4, undefined, '159,500'], [999.6, undefined, '1,000'], [45, undefined, '45'], [5.678, undefined, '5.68'], [0.0123, undefined, '0.012'],
    [45.67, undefined, '45.7'], [0.987, 'share', '98.7 %'], [undefined, undefined, '–'], [0, undefined, '0'],
  ]) {
    assert.equal(readable(value, unit), expected);
  }
});

test('CPU is divided by operations, the target’s by the seconds it was loaded', () => {
  const outcome = { cpu_s: 2, wall_s: 5, peak_mb: 10, target: { cpu_s: 1 } };
  const { cpu_us, cpu_share, target_cpu, own } = complete({ operations: 1000, seconds: 4, own: 3 }, outcome);
  assert.deepEqual({ cpu_us, cpu_share, target_cpu, own }, { cpu_us: 2000, cpu_share: 0.4, target_cpu: 0.25, own: 3 });
});

test('an anchor is what the heading becomes', () => {
  assert.equal(anchor('Room of N, 86 bytes: with & without'), 'room-of-n-86-bytes-with--without');
});
