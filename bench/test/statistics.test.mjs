import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, summaries, summary } from '../lib/statistics.mjs';

test('the median is the middle value, whatever the order', () => {
  for (const [values, expected] of [[[3, 1, 2], 2], [[4, 1, 3, 2], 2.5], [[7], 7], [[], undefined], [[10, 9, 1000], 10]]) {
    assert.equal(median(values), expected, `${values}`);
  }
});

test('the median leaves the list it is given as it was', () => {
  const values = [3, 1, 2];
  median(values);
  assert.deepEqual(values, [3, 1, 2]);
});

test('a summary is of the numbers only and says of how many', () => {
  assert.deepEqual(summary([5, null, 1, undefined, NaN, 3]), { median: 3, min: 1, max: 5, count: 3 });
  assert.equal(summary([null, NaN]), undefined);
});

test('a failed run has no figures and changes no median', () => {
  const runs = [{ measures: { a: 1, b: 9 } }, { error: 'gone' }, { measures: { a: 3, b: null } }];
  assert.deepEqual(summaries(runs), { a: { median: 2, min: 1, max: 3, count: 2 }, b: { median: 9, min: 9, max: 9, count: 1 } });
});
