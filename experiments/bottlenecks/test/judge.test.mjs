import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accused, judged, place, runs } from '../lib/judge.mjs';
import { page } from '../lib/table.mjs';

const said = (...ids) => ({ findings: ids.map((id) => ({ id, confidence: 'likely', evidence: [] })) });
const plant = { name: 'full-pool', about: 'a full pool', expects: 'pool_small' };
const run = (planted, diagnosis, more) => ({ planted, seed: 2, load: 1, diagnosis, ...more });

test('a cause is named first, second, later or not at all', () => {
  const places = [said('pool_small', 'cpu'), said('cpu', 'pool_small'), said('cpu', 'memory', 'pool_small'), said('cpu'), said()];
  assert.deepEqual(places.map((diagnosis) => place(diagnosis, 'pool_small')), ['first', 'second', 'later', 'not named', 'not named']);
});

test('a healthy service is accused by any finding, also by the planted one', () => {
  assert.equal(accused(said()), undefined);
  assert.equal(accused(said('pool_small')), 'pool_small');
});

test('no seed is used for calibrating and for judging', () => {
  const seeds = (size) => new Set(runs({ planted: 3, healthy: 10 }, size).map(({ seed }) => seed));
  assert.deepEqual([...seeds('calibrate')].filter((seed) => seeds('judge').has(seed)), []);
  assert.deepEqual(runs({ planted: 1, healthy: 2 }, 'judge'), [
    { planted: true, seed: 2 },
    { planted: false, seed: 2 },
    { planted: false, seed: 4 },
  ]);
});

test('runs of a plant come to what the table says', () => {
  const all = [run(true, said('pool_small')), run(true, said('cpu', 'pool_small')), run(true, said()), run(false, said()), run(false, said('cpu'))];
  const result = { plant, runs: all };
  const { planted, first, second, not, instead, healthy, wrongly, isAsWanted } = judged(result);
  assert.deepEqual({ planted, first, second, not, instead, healthy, wrongly, isAsWanted }, {
    planted: 3,
    first: 1,
    second: 1,
    not: 1,
    instead: ['cpu', 'nothing'],
    healthy: 2,
    wrongly: ['cpu'],
    isAsWanted: false,
  });
  const [, , row] = page([result]).split('\n');
  assert.equal(row, '| full-pool: a full pool | pool_small | 3 | 1 | 1 | 1 | cpu, nothing | 2 | 1 (cpu) | 1.0 |');
});

test('a run that failed is neither a success nor a miss, and nothing is as wanted with it', () => {
  const result = { plant, runs: [run(true, said('pool_small')), run(true, undefined, { error: 'no port' })] };
  assert.equal(judged(result).first, 1);
  assert.equal(judged(result).isAsWanted, false);
  assert.match(page([result]), /Runs that failed: 1\./);
});

test('a healthy service on a machine that others use is as wanted, and yet accused in the table', () => {
  const result = { plant, runs: [run(true, said('pool_small')), run(false, said('neighbour'))] };
  assert.equal(judged(result).isAsWanted, true);
  assert.deepEqual(judged(result).wrongly, ['neighbour']);
  assert.equal(judged({ plant, runs: [run(false, said('cpu'))] }).isAsWanted, false);
});

test('a plant that cannot be made here is told with the reason', () => {
  assert.match(page([{ plant, runs: [], impossible: 'a cgroup needs root' }]), /not run \|  \|  \|  \| a cgroup needs root/);
});
