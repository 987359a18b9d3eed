import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMITS, FAILED_CONNECTIONS, FAILED_USERS, answers, ratioRows, ratioTable, sessions } from '../ratio.mjs';

const TABLE = ratioTable([FAILED_USERS, FAILED_CONNECTIONS], [EMITS, answers('p95'), sessions('mean')]);
const MADE = { version: '0.2.0', started: '2026-11-26T22:34:29Z', machine: '2 cores' };
const summary = ({ failed = 0, p95 = 400, result = 'pass', emits = 20 } = {}) => ({
  complete: true,
  interrupted: false,
  verdict: { result },
  users: { planned: 100, started: 100, failed, session_ms: { mean: 3 * p95 } },
  kinds: [
    { kind: 'http', response_ms: { p95 } },
    { kind: 'socketio_connect', count: 90, failed },
    { kind: 'socketio_emit', rate_per_s: 1 },
    { kind: 'socketio_request', rate_per_s: emits - 1 },
  ],
});
const runs = (service, host, each) => each.map((more) => ({ combination: { service, host }, summary: summary(more) }));
const thrice = (more) => [more, more, more];
const small = runs('nest', 't2.micro', [{ p95: 600, failed: 3 }, { p95: 800 }, { p95: 700 }]);
const free = runs('nest', 'none', thrice({ p95: 200 }));
const named = (row) => Object.fromEntries(row.map((cell, at) => [TABLE.head[at], cell]));

test('a host stands to no limits as the medians of their runs', () => {
  const [micro, none, ratio] = ratioRows(TABLE, { ...MADE, runs: [...small, ...free] }).map(named);
  const measured = '3 of 3 runs of 100 users, Sonagi 0.2.0, 2026-11-26, 2 cores';
  assert.deepEqual([micro.whose, micro.measured], ['here: NestJS, t2.micro', measured]);
  assert.deepEqual([micro['failed users'], micro['failed connections']], ['3 of 300', '3 of 270']);
  const p95 = [micro, none, ratio].map((row) => row['answers: p95']);
  assert.deepEqual([none.whose, ...p95], ['here: NestJS, without limits', '700 ms', '200 ms', '3.50 ×']);
  assert.deepEqual([micro['emits a second'], ratio['emits a second']], ['20.0', '1.00 ×']);
  assert.deepEqual([micro['sessions: mean'], ratio['sessions: mean']], ['2,100 ms', '3.50 ×']);
  assert.equal(ratio['failed users'], '-');
});

test('the services of a matrix have rows of their own', () => {
  const sonagi = ['t2.micro', 'none'].flatMap((host) => runs('sonagi', host, thrice({ p95: 50 })));
  const rows = ratioRows(TABLE, { ...MADE, runs: [...sonagi, ...small, ...free] }).map(named);
  const ratios = rows.filter(({ measured }) => measured === 'of these two');
  const shown = ratios.map((row) => [row.whose, row['answers: p95']]);
  assert.deepEqual(shown, [['here: NestJS, ratio', '3.50 ×'], ['here: sonagi serve, ratio', '1.00 ×']]);
  assert.equal(rows.length, 6);
});

test('runs that say nothing of the service, and that of the drift, do not count', () => {
  const anchor = { ...small[0], is_anchor: true };
  const unsound = runs('nest', 'none', thrice({ result: 'invalid' }));
  const [micro, none, ratio] = ratioRows(TABLE, { ...MADE, runs: [...small, anchor, ...unsound] }).map(named);
  assert.match(micro.measured, /^3 of 3 runs/);
  assert.deepEqual([none['failed users'], none['answers: p95']], ['-', '-']);
  assert.equal(none.measured, '0 of 3 runs, Sonagi 0.2.0, 2026-11-26, 2 cores');
  assert.deepEqual([ratio['answers: p95'], ratio['sessions: mean']], ['-', '-']);
});

test('a ratio needs both sides, made in turn', () => {
  assert.throws(() => ratioRows(TABLE, { ...MADE, runs: small }), /none of host none$/);
});
