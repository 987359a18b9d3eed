import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadRows, poolRows } from '../lib/tables.mjs';

const summary = ({ p50 = 40, failed = 0, codes = { 200: 50, 201: 10 }, errors = [], result = 'pass' } = {}) => ({
  complete: true,
  interrupted: false,
  verdict: { result },
  users: { started: 10, failed, session_ms: { p50: 6 * p50 } },
  kinds: [{ kind: 'http', count: 60, response_ms: { mean: p50 * 2, p50, p95: p50 * 5, p99: p50 * 10, max: p50 * 20 } }],
  http_codes: codes,
  errors,
});
const MADE = { version: '0.2.0', started: '2026-11-26T22:34:29Z' };

test('a pool has the medians of its sound runs, and all that failed in them', () => {
  const run = (pool, more, is_anchor = false) => ({ combination: { pool }, is_anchor, summary: summary(more) });
  const refused = { failed: 1, codes: { 200: 47, 201: 10, 500: 3 } };
  const sound = [run(10, { p50: 30 }), run(10, refused), run(10, { p50: 50 })];
  const runs = [...sound, run(10, { result: 'invalid' }), run(10, { p50: 1 }, true)];
  const measured = 'Sonagi 0.2.0, 2026-11-26, 2 cores';
  assert.deepEqual(poolRows({ ...MADE, machine: '2 cores', runs: [...runs, { combination: { pool: 4500 } }] }), [
    [
      ...['here: 10', '10', '1 of 30', '3 of 180', '80.0 ms', '40.0 ms', '200 ms', '400 ms', '1,000 ms', '240 ms'],
      `3 of 4 runs, ${measured}`,
    ],
    ['here: 4500', '4,500', '-', '-', '-', '-', '-', '-', '-', '-', `0 of 1 runs, ${measured}`],
  ]);
});

test('each end of a bracket has the figures of its worst trial, and an end that was not found is none', () => {
  const errors = [{ code: 'timeout', count: 4 }, { code: 'capture_or_match', count: 9 }];
  const kept = { a: summary(), b: summary({ p50: 70 }), c: summary({ errors, codes: { 200: 55, 500: 1 } }) };
  const environment = { cpus: 2, cpu: 'EPYC', kernel: '6' };
  const runOf = (folder) => ({ header: { environment }, summary: kept[folder] });
  const trial = (load, folder, p99_ms) => ({ load, folder, p99_ms, seconds: 60 });
  const search = {
    ...MADE,
    command: ['sonagi', 'capacity', 'report.yml', '--matrix', 'pool=10'],
    until: 'x == 0',
    found: { lower: { load: 60, agreeing: 2, trials: 2 }, upper: { load: 63, agreeing: 2, trials: 3 } },
    trials: [trial(60, 'a', 400), trial(60, 'b', 700), trial(63, 'c', 400)],
  };
  const where = 'the worst one of 60 s, Sonagi 0.2.0, 2026-11-26, 2 cores of EPYC, kernel 6';
  assert.deepEqual(loadRows(search, runOf), [
    ['here: 10 holds', 'x == 0', '60', '0', '0', '70.0 ms', '350 ms', '700 ms', `2 of 2 trials, ${where}`],
    ['here: 10 does not', 'x == 0', '63', '4 of 60', '1 of 56', '40.0 ms', '200 ms', '400 ms', `2 of 3 trials, ${where}`],
  ]);
  const [, upper] = loadRows({ ...search, found: { ...search.found, upper: null } }, runOf);
  assert.deepEqual(upper, ['here: 10 does not', 'x == 0', 'none confirmed', '-', '-', '-', '-', '-', '-']);
});
