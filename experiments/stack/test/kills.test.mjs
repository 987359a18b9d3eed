// A run during which nothing was killed, or nothing was under way, never passes; one that lost something fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdown, merged } from '../../../bench/lib/markdown.mjs';
import { figuresOf, judged, KINDS, TRANSPORTS } from '../lib/kills.mjs';
import { TABLE, rowsOf } from '../lib/kills_table.mjs';

const kind = (name) => KINDS.find((one) => one.name === name);
const SUMMARY = {
  complete: true,
  interrupted: false,
  traffic: { connections_lost: 4, reconnects: 4 },
  operations: [
    { name: 'say', count: 400, failed: 2, service_ms: { max: 40 } },
    { name: 'stayed', count: 12, failed: 0, service_ms: { max: 3 } },
  ],
  delivery: { owed: 6_000, replayed: 30, lost: 0, duplicate: 0, reordered: 0, leaked: 0, unknown: 1 },
};
const FIGURES = figuresOf(SUMMARY);
const KILLED = { part: 'instance-2', ended: 'SIGKILL', down_ms: 200, pids: [10, 11], longPolls: 3, emptyPolls: 5 };
const verdict = (name, transport, figures, seen) =>
  judged(kind(name), transport, { ...FIGURES, ...figures }, { ...KILLED, ...seen }, 12);

test('figures are those of sends and of who stayed', () => {
  const { acknowledged, refused, stayed, slowestSend_ms } = FIGURES;
  assert.deepEqual([acknowledged, refused, stayed, slowestSend_ms], [398, 2, 12, 40]);
  const nothing = figuresOf({ ...SUMMARY, operations: [] });
  assert.deepEqual([nothing.acknowledged, nothing.stayed], [0, 0]);
  const { isWhole, owed, reconnects } = figuresOf(undefined);
  assert.deepEqual({ isWhole, owed, reconnects }, { isWhole: false, owed: 0, reconnects: 0 });
});

test('who came back, and missed nothing, passes', () => {
  for (const transport of TRANSPORTS) assert.deepEqual(verdict('instance', transport, {}, {}), { verdict: 'passed' });
});

test('a kill that did not happen shows nothing', () => {
  const unharmed = (figures) => judged(kind('instance'), 'ws', { ...FIGURES, ...figures }, undefined, 12);
  assert.equal(unharmed({}).verdict, 'void');
  assert.equal(unharmed({ lost: 1 }).verdict, 'failed');
  assert.match(verdict('instance', 'ws', {}, { pids: [10, 10] }).why, /same process/);
});

test('a kill beside all that went on shows nothing', () => {
  const cases = [
    ['instance', 'ws', { reconnects: 0 }, {}, /came back/],
    ['drain', 'stomp', { replayed: 0 }, { ended: 0 }, /while somebody was away/],
    ['instance', 'poll', {}, { emptyPolls: 0 }, /not polled/],
    ['instance', 'longpoll', {}, { longPolls: 0 }, /no long poll/],
    ['instance', 'sse', { acknowledged: 0 }, {}, /nothing was said/],
    ['instance', 'sse', { isWhole: false }, {}, /its end/],
    ['redis', 'ws', {}, { noticed: 2, filled: [1, 1, 1] }, /2 of 3/],
    ['redis', 'ws', {}, { noticed: 3, filled: [1, 0, 1] }, /from the store/],
    ['postgres', 'ws', { refused: 0 }, {}, /no send waited/],
  ];
  for (const [name, transport, figures, seen, why] of cases) {
    const judgement = verdict(name, transport, figures, seen);
    assert.equal(judgement.verdict, 'void', `${name}, ${transport}`);
    assert.match(judgement.why, why);
  }
});

test('what is lost or comes twice fails, also when little was under way', () => {
  const cases = [
    [{ lost: 1 }, {}, '1 lost'],
    [{ duplicate: 2, reconnects: 0 }, {}, '2 duplicate'],
    [{ reordered: 1 }, {}, '1 reordered'],
    [{ stayed: 11 }, {}, '1 of 12 listeners did not stay'],
    [{}, { ended: 0 }, 'instance-2 ended with 0, not SIGKILL'],
  ];
  for (const [figures, seen, why] of cases) {
    assert.deepEqual(verdict('instance', 'ws', figures, seen), { verdict: 'failed', why });
  }
});

test('the table sums runs, names those that do not count, and keeps the rows of kinds that were not run', () => {
  const run = (round, name) => ({ round, transport: 'ws', figures: FIGURES, seen: KILLED, verdict: name });
  const rows = rowsOf({ kind: kind('instance'), runs: [run(0, 'passed'), run(1, 'void'), run(2, 'failed')] });
  const counted = ['1,194', '6', '18,000', '90', '0', '0'];
  assert.deepEqual(rows, [['an instance, SIGKILL', 'ws', '1 of 3 (1 failed, 1 void)', ...counted]]);
  const others = [['Redis, SIGKILL', 'ws', '1 of 1', '1', '0', '2', '0', '0', '0']];
  const page = markdown(TABLE, [...others, ['an instance, SIGKILL', 'ws', 'old', '', '', '', '', '', '']]);
  assert.deepEqual(merged(TABLE, page, rows), [...rows, ...others]);
  assert.deepEqual(merged(TABLE, 'not measured yet', others), others);
});
