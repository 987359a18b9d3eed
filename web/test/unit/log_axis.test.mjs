import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../load.mjs';

const { logSplits } = await load('charts/log_axis.ts');

test('a logarithmic axis has whole multiples of powers of ten, wherever its range begins', () => {
  assert.deepEqual(logSplits(0.098, 0.35), [0.1, 0.2, 0.3]);
  assert.deepEqual(logSplits(8, 21), [8, 9, 10, 20]);
  assert.deepEqual(logSplits(0.3, 0.35), [0.3]);
  assert.deepEqual([logSplits(0, 10), logSplits(Number.NaN, 10), logSplits(1, Number.POSITIVE_INFINITY)], [[], [], []]);
});
