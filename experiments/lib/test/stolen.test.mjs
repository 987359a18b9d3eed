import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietest, ticks, withStolen } from '../stolen.mjs';

test('stolen time is the eighth count, and that of guests is not counted twice', () => {
  const stat = 'cpu  100 1 20 300 4 0 6 50 7 8\ncpu0 50 1 10 150 2 0 3 25 7 8\nintr 5\n';
  assert.deepEqual(ticks(stat), { all: 481, stolen: 50 });
  // Kernels before 2.6.11 have no such count.
  assert.deepEqual(ticks('cpu  100 1 20 300 4 0 6\n'), { all: 431, stolen: 0 });
});

test('a call has its result, and a share of stolen time beside it', async () => {
  const { result, stolen } = await withStolen(async () => 7);
  assert.equal(result, 7);
  assert.ok(stolen >= 0 && stolen <= 1, `${stolen}`);
});

/** Calls of which so much is stolen, one after the other. */
const stealing = (shares) => async (call) => ({ result: await call(), stolen: shares.shift() });

test('calls go on until as many as are wanted were quiet, and those of them count', async () => {
  let calls = 0;
  const measured = stealing([0.2, 0.003, 0.1, 0, 0.5]);
  const { chosen, all } = await quietest(async () => (calls += 1), { wanted: 2, at_most: 5, measured });
  assert.deepEqual(chosen, [{ result: 4, stolen: 0 }, { result: 2, stolen: 0.003 }]);
  assert.deepEqual(all.map(({ result }) => result), [1, 2, 3, 4]);
});

test('where the machine is never quiet, those with least stolen count', async () => {
  let calls = 0;
  const { chosen, all } = await quietest(async () => (calls += 1), { at_most: 3, measured: stealing([0.2, 0.1, 0.3]) });
  assert.deepEqual(chosen, [{ result: 2, stolen: 0.1 }]);
  assert.equal(all.length, 3);
});
