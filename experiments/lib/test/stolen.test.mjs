import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ticks, withStolen } from '../stolen.mjs';

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
