import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK_S, begin, blockPairs, isDisturbed, rows } from '../lib/blocks.mjs';

const seconds = (count) => Array.from({ length: count }, (_, at) => ({ time_s: at + 1, interval_s: 1 }));
const times = (inside) => ({ first: Math.min(...inside.map((row) => row.time_s)), count: inside.length });

test('a row has the numbers of its columns, and nothing where there is none', () => {
  const [row, other] = rows('time_s,time_utc,p99\n1,2026-11-26T14:10:09.000Z,\n2,2026-11-26T14:10:10.000Z,3.5\n');
  assert.deepEqual(row, { time_s: 1, time_utc: undefined, p99: undefined });
  assert.equal(other.p99, 3.5);
  assert.throws(() => rows('time_s,"checks{a,b}"\n1,2\n'), /quoted/);
});

test('a row across an edge belongs to no block', () => {
  // The first block goes from 0.5 s to 4.5 s, so of its seconds those that end at 2, 3 and 4 are whole.
  assert.deepEqual(blockPairs(seconds(9), { settled: 0, count: 2 }, times), [[{ first: 2, count: 3 }, { first: 6, count: 3 }]]);
  assert.equal(begin(3, 1), 3.5 + BLOCK_S);
});

test('the quiet half of a pair comes first, whichever came first in the run', () => {
  const [one, two] = blockPairs(seconds(20), { settled: 0, count: 4 }, times);
  assert.deepEqual(one.map((half) => half.first), [2, 6]);
  assert.deepEqual(two.map((half) => half.first), [14, 10]);
});

test('as many blocks are disturbed as are quiet, and a drift cancels out', () => {
  const disturbed = [0, 1, 2, 3].filter(isDisturbed);
  assert.deepEqual([disturbed.length, disturbed.reduce((sum, block) => sum + block, 0)], [2, 3]);
});

test('a block without a figure is told, not left out', () => {
  assert.throws(() => blockPairs(seconds(5), { settled: 0, count: 2 }, (inside) => ({ rate: inside[0]?.time_s })), /block 1 has no rate/);
});
