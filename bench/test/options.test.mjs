import assert from 'node:assert/strict';
import { test } from 'node:test';
import { options } from '../lib/options.mjs';

const read = (environment) => options(environment, ['ws-echo', 'idle'], ['sonagi', 'bare', 'k6', 'tsung']);
const row = (tool, slow) => ({ tool, slow });

test('without any setting every case runs five times against all but the slow peers', () => {
  const { cases, runs, wants, look } = read({});
  assert.deepEqual({ cases, runs, look }, { cases: ['ws-echo', 'idle'], runs: 5, look: false });
  assert.deepEqual([row('sonagi'), row('k6'), row('tsung', true)].map(wants), [true, true, false]);
});

test('a slow row of ours waits for PEERS, too', () => {
  assert.equal(read({}).wants(row('sonagi', true)), false);
  assert.equal(read({ PEERS: 'all' }).wants(row('sonagi', true)), true);
});

test('PEERS chooses peers, slow ones too, and never sends ours away', () => {
  const { wants, look } = read({ PEERS: 'tsung' });
  assert.deepEqual([row('sonagi'), row('bare'), row('k6'), row('tsung', true)].map(wants), [true, true, false, true]);
  assert.equal(look, true);
  assert.deepEqual([row('k6'), row('tsung', true)].map(read({ PEERS: 'all' }).wants), [true, true]);
});

test('fewer than five rounds are a look, not a result', () => {
  assert.equal(read({ RUNS: '4' }).look, true);
  assert.equal(read({ RUNS: '7' }).look, false);
});

test('beside another build of ours it is a look', () => {
  const { before, look } = read({ BEFORE: process.execPath });
  assert.deepEqual({ before, look }, { before: process.execPath, look: true });
});

test('every wrong setting is named at once', () => {
  assert.throws(() => read({ CASE: 'ws-eco', PEERS: 'jmeter', RUNS: '0', BEFORE: '/no/such/sonagi' }), (error) => {
    assert.deepEqual(error.message.split('\n').map((line) => line.split(':')[0]), ['CASE', 'PEERS', 'RUNS', 'BEFORE']);
    return true;
  });
});
