import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../load.mjs';

const { logarithmic, ofShares } = await load('library/capacity_scales.ts');
globalThis.document = { documentElement: {} };
const { share } = await load('text/format.ts');

test('a logarithmic scale has all values in it, and what is not above 0 where it begins', () => {
  const { place, ticks } = logarithmic([12, 0, 410], 200, 0);
  assert.deepEqual(ticks, [10, 20, 50, 100, 200, 500]);
  assert.ok(place(12) < 200 && place(410) > 0 && place(410) < place(12));
  assert.deepEqual([place(0), logarithmic([], 200, 0).place(5)], [200, 200]);
  assert.deepEqual(logarithmic([], 200, 0).ticks, []);
});

test('a scale of shares ends at all of it, and begins right below the least', () => {
  const told = values => ofShares(values, 100, 0).ticks.map(share);
  assert.deepEqual(told([1, 0]), ['0 %', '20 %', '40 %', '60 %', '80 %', '100 %']);
  assert.deepEqual(told([1, 0.7]), ['50 %', '60 %', '70 %', '80 %', '90 %', '100 %']);
  assert.deepEqual(told([1, 0.961]), ['90 %', '92 %', '94 %', '96 %', '98 %', '100 %']);
  assert.deepEqual(told([1]), ['99 %', '99.2 %', '99.4 %', '99.6 %', '99.8 %', '100 %']);
  const { place } = ofShares([1, 0.96], 100, 0);
  assert.deepEqual([place(0.9), place(0.95), place(1)].map(Math.round), [100, 50, 0]);
});
