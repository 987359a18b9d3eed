import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BASE, CHANGES, CRITERIA, REMEDIES } from '../lib/remedies.mjs';
import { SERVICES } from '../lib/services.mjs';
import { RATIO_TABLE, REMEDY_TABLE, environmentOf, impact, ratioRows, remedyRows } from '../lib/tables.mjs';

const MADE = { version: '0.2.0', started: '2026-11-26T22:34:29Z', machine: '2 cores', command: ['sonagi', 'run', 'chat.yml'] };
const summary = ({ failed = 0, p95 = 400, result = 'pass' } = {}) => ({
  complete: true,
  interrupted: false,
  verdict: { result },
  users: { planned: 100, started: 100, failed, session_ms: { mean: 3 * p95, p50: 2 * p95, p95: 5 * p95, p99: 6 * p95 } },
  operations: [{ name: 'login', response_ms: { p95 } }],
  kinds: [
    { kind: 'http', response_ms: { mean: p95 / 4, p95, p99: 2 * p95 } },
    { kind: 'socketio_connect', count: 90, failed },
    { kind: 'socketio_request', rate_per_s: 20 },
  ],
});
const runs = (remedy, each, { host = 't2.micro', service = 'nest', swap = 0 } = {}) =>
  each.map((more) => ({ combination: { service, remedy, host, swap }, summary: summary(more) }));
const thrice = (more) => [more, more, more];
const cellsOf = (rows, name) => {
  const row = rows.find(([remedy]) => remedy === name);
  return Object.fromEntries(REMEDY_TABLE.head.map((column, at) => [column, row[at]]));
};

test('what users failed decides on the impact, else what logins took, where the runs of both sides lie apart', () => {
  const of = (failed, p95) => [0, 1, 2].map((more) => summary({ failed: failed + more, p95: p95 + more }));
  assert.deepEqual(impact(of(40, 400), of(10, 900)), { grade: 3, why: 'failed users' });
  assert.deepEqual(impact(of(40, 400), of(30, 100)), { grade: 2, why: 'failed users' });
  assert.deepEqual(impact(of(10, 900), of(40, 100)), { grade: 1, why: 'worse: failed users' });
  assert.deepEqual(impact(of(10, 900), of(12, 100)), { grade: 3, why: 'logins' });
  assert.deepEqual(impact(of(10, 100), of(10, 900)), { grade: 1, why: 'worse: logins' });
  assert.deepEqual(impact(of(10, 400), of(11, 401)), { grade: 1, why: 'no difference' });
  assert.equal(impact(of(10, 400), of(0, 100).slice(1)), undefined);
});

test('a remedy is held against its own series, and its rank follows from all scores on the page', () => {
  const none = runs('none', [{ failed: 40 }, { failed: 40, p95: 500 }, { failed: 46, p95: 600 }, { result: 'invalid' }]);
  const anchor = { ...runs('none', [{ failed: 0 }])[0], is_anchor: true };
  const all = [...none, anchor, ...runs('nginx', thrice({ failed: 9, p95: 200 })), ...runs('redis', [{ result: 'invalid' }])];
  const rows = remedyRows([], { ...MADE, runs: [...all, ...runs('all', thrice({ failed: 1 }))] });
  assert.deepEqual(rows.map(([remedy]) => remedy), REMEDIES.map(({ name }) => name));
  const nginx = {
    remedy: 'nginx',
    'the report': '3',
    here: '1',
    score: '23',
    'failed users': '42.0 % → 9.0 %',
    'p95 of logins': '500 ms → 200 ms',
    'p95 of sessions': '2,500 ms → 1,000 ms',
    impact: '3 (failed users)',
    ...Object.fromEntries(CRITERIA.map((criterion, at) => [criterion, '3 3 3* 2 3* 3*'.split(' ')[at]])),
    measured: '3 of 3 runs of 100 users, Sonagi 0.2.0, 2026-11-26, 2 cores',
  };
  assert.deepEqual(cellsOf(rows, 'nginx'), nginx);
  const redis = cellsOf(rows, 'a Redis cache');
  assert.deepEqual([redis.here, redis.impact, redis.measured], ['-', '-', '0 of 1 runs, Sonagi 0.2.0, 2026-11-26, 2 cores']);
  assert.match(cellsOf(rows, 'a smaller load').measured, /^no change of the host: /);
  assert.equal(cellsOf(rows, 'needless services off').measured, 'not measured yet');
  const together = cellsOf(rows, 'all on the small host');
  assert.deepEqual([together.impact, together.score, together.here], ['3 (failed users)', '-', '-']);

  // Another series, of larger machines: what stands there stays, and is ranked with it.
  const larger = runs('none', thrice({ failed: 0 }), { host: 't3.small' });
  const more = remedyRows(rows, { ...MADE, runs: [...runs('none', thrice({ failed: 50 })), ...larger] });
  assert.deepEqual(cellsOf(more, 'nginx'), nginx);
  const one = cellsOf(more, 'a larger instance');
  assert.deepEqual([one['failed users'], one.score, one.here], ['50.0 % → 0.0 %', '16', '2']);

  // Swap is an axis of its own, and the runs with it are none of the host as it was.
  const swapping = [...runs('none', thrice({ failed: 40 })), ...runs('none', thrice({ failed: 40 }), { swap: '1 GiB' })];
  const swap = cellsOf(remedyRows(more, { ...MADE, runs: swapping }), 'swap');
  assert.deepEqual([swap['failed users'], swap.impact], ['40.0 % → 40.0 %', '1 (no difference)']);
});

test('another service is held against that of the report on the same host, and has no place in the ranking', () => {
  const other = runs('none', thrice({ failed: 0, p95: 40 }), { service: 'sonagi' });
  const rows = remedyRows([], { ...MADE, runs: [...runs('none', thrice({ failed: 20 })), ...other] });
  const row = cellsOf(rows, '`sonagi serve` in place of it');
  assert.deepEqual([row['failed users'], row['p95 of logins']], ['20.0 % → 0.0 %', '400 ms → 40.0 ms']);
  assert.equal(row.impact, '3 (failed users)');
  assert.deepEqual([row['the report'], row.here, row.score], ['-', '-', '-']);
});

test('a matrix without the host as it was is nothing to hold a remedy against', () => {
  assert.throws(() => remedyRows([], { ...MADE, runs: runs('nginx', thrice({})) }), /remedy none, host t2.micro, swap 0/);
});

test('the table of ratios is of the host as it was, whatever else a matrix has', () => {
  const hosts = [...runs('none', thrice({ p95: 600 })), ...runs('none', thrice({}), { host: 'none' })];
  const [small, free, ratio] = ratioRows({ ...MADE, runs: [...runs('nginx', thrice({ p95: 9_000 })), ...hosts] });
  const p95 = RATIO_TABLE.head.indexOf('answers: p95');
  assert.deepEqual([small[p95], free[p95], ratio[p95]], ['600 ms', '400 ms', '1.50 ×']);
  assert.equal(small[RATIO_TABLE.head.indexOf('failed connections')], '0 of 270');
});

test('the environment of a run is read off its command', () => {
  const of = (words) => environmentOf({ command: `sonagi run chat.yml ${words}`.trim().split(' ') });
  assert.deepEqual(['-e report --repeat 3', '--environment=quick'].map(of), ['report', 'quick']);
  assert.deepEqual(['--env-file .env', ''].map(of), [undefined, undefined]);
});

test('the script asks for each remedy that is judged, and the host knows all that it asks for', () => {
  const script = readFileSync(new URL('../chat.yml', import.meta.url), 'utf8');
  const axis = (name) => script.match(new RegExp(`^  ${name}: \\[(.*)\\]$`, 'm'))[1].split(', ');
  assert.deepEqual(axis('remedy'), ['none', ...CHANGES, 'all']);
  assert.deepEqual(axis('service'), Object.keys(SERVICES));
  assert.deepEqual(SERVICES.sonagi().remedies.filter((remedy) => !CHANGES.includes(remedy)), []);
  for (const { name, runs, untried, grades, place } of REMEDIES) {
    assert.equal(Boolean(runs) !== Boolean(untried), true, name);
    const asked = Object.entries({ ...BASE, ...runs });
    for (const [of, value] of asked) assert.ok(axis(of).includes(String(value)), `${name}: ${value}`);
    if (place) assert.match(grades, new RegExp(`^([123]\\*? ?){${CRITERIA.length}}$`), name);
  }
});
