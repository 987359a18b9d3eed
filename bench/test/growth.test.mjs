import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grew, growth } from '../lib/growth.mjs';

const samples = (seconds, mb) => Array.from({ length: seconds / 10 }, (_, index) => ({ at_s: (index + 1) * 10, mb: mb((index + 1) * 10) }));

test('what grows in the first minute only has not grown', () => {
  const { grown_mb, mb_per_hour } = growth(samples(600, (at_s) => Math.min(at_s, 60)));
  assert.deepEqual([grown_mb, mb_per_hour], [0, 0]);
});

test('a steady leak is found, with its rate', () => {
  const { grown_mb, mb_per_hour } = growth(samples(1800, (at_s) => 20 + at_s / 100));
  assert.equal(Math.round(mb_per_hour), 36);
  assert.ok(grown_mb > 16 && grown_mb < 17.5, `${grown_mb}`);
});

test('what takes longer to settle is judged from when it has', () => {
  const filling = samples(600, (at_s) => Math.min(at_s, 120));
  assert.ok(growth(filling).grown_mb > 20);
  assert.deepEqual([growth(filling, 120).grown_mb, growth(filling, 120).mb_per_hour], [0, 0]);
});

test('a moment of more is no growth', () => {
  const { grown_mb } = growth(samples(600, (at_s) => (at_s === 600 ? 90 : 20)));
  assert.equal(grown_mb, 0);
});

test('a soak of a minute is not judged', () => {
  assert.equal(growth(samples(60, () => 20)), undefined);
});

test('growth is more than a megabyte, and more than a twentieth of what was there', () => {
  for (const [from_mb, grown_mb, expected] of [[10, 0.9, false], [10, 1.1, true], [100, 4, false], [100, 6, true], [100, -20, false]]) {
    assert.equal(grew({ from_mb, grown_mb }), expected, `${grown_mb} on ${from_mb}`);
  }
});
