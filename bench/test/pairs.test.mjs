import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimate, ratio } from '../lib/pairs.mjs';
import { normal, random } from '../lib/random.mjs';

const pairOf = (with_) => [{ rate: 1 }, { rate: with_ }];
/** The figures of an estimate: its middle, and the ends of its interval. */
const figures = (text) => text.match(/^([\d.]+) \(95 %: ([\d.]+)–([\d.]+)\)$/).slice(1).map(Number);

test('the median ratio stands with its range', () => {
  assert.equal(ratio([[{ rate: 2 }, { rate: 1 }], [{ rate: 2 }, { rate: 4 }], [{ rate: 2 }, { rate: 2 }]], 'rate'), '1.000 (0.500–2.000)');
});

test('the interval of an estimate holds the truth as often as it says', () => {
  const next = random(20261127);
  const rounds = 1000;
  let held = 0;
  for (let round = 0; round < rounds; round += 1) {
    const all = Array.from({ length: 40 }, () => pairOf(0.98 * Math.exp(0.08 * normal(next))));
    const [, low, high] = figures(estimate(all, 'rate'));
    held += low <= 0.98 && 0.98 <= high ? 1 : 0;
  }
  // Three standard errors below 95 %, and rounding to a thousandth widens no interval by more than a percent of its width.
  assert.ok(held >= 0.93 * rounds && held <= 0.975 * rounds, `${held} of ${rounds}`);
});

test('a pair in which the machine changed its speed pulls an estimate no further than any other', () => {
  const steady = Array.from({ length: 30 }, (_, at) => pairOf(0.99 + 0.001 * (at % 5)));
  const [before] = figures(estimate(steady, 'rate'));
  const [after] = figures(estimate([...steady, pairOf(3)], 'rate'));
  assert.ok(Math.abs(after - before) <= 0.001, `${before} to ${after}`);
});

test('one dose of ten has the tenth root of what ten come to', () => {
  const all = Array.from({ length: 30 }, () => pairOf(0.99 ** 10));
  assert.equal(estimate(all, 'rate', { doses: 10 }), '0.9900 (95 %: 0.9900–0.9900)');
});
