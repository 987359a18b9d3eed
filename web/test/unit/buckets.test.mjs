import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Recorder, random } from '../fixtures/recorder.mjs';
import { load } from '../load.mjs';

const { Buckets, keyOf, middleOf, OFFSET } = await load('data/index.ts');

test('a bucket holds its upper bound and not its lower one', () => {
  assert.equal(keyOf(1, 4), OFFSET);
  assert.equal(keyOf(2, 4), OFFSET + 16);
  assert.equal(keyOf(2.000001, 4), OFFSET + 17);
  assert.equal(keyOf(0, 4), 0);
  assert.equal(keyOf(-2, 4), -(OFFSET + 16));
  assert.equal(keyOf(0.5, 4), OFFSET - 16);
});

test('the middle of a bucket is within half a bucket of every value in it', () => {
  const next = random(1);
  for (let i = 0; i < 5_000; i += 1) {
    const value = 10 ** (8 * next() - 3);
    assert.ok(Math.abs(Math.log2(middleOf(keyOf(value, 4), 4) / value)) <= 0.5 / 16 + 1e-9);
  }
});

test('quantiles of merged buckets are those of all values, within half a bucket', () => {
  const next = random(2);
  const run = new Recorder({ name: 'any', language: 'artillery' });
  for (let second = 0; second < 20; second += 1) {
    for (let i = 0; i < 50; i += 1) run.time('t', 10 ** (4 * next() - 1));
    run.tick();
  }
  const merged = new Buckets(4);
  for (const { frame } of run.lines.filter(line => line.frame)) merged.add(frame.v[0][1]);
  for (const q of [0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1]) {
    const exact = run.quantile('t', {}, 0, 20, q);
    assert.ok(Math.abs(Math.log2(merged.quantile(q) / exact)) <= 0.5 / 16 + 1e-9, `quantile ${q}`);
  }
  assert.equal(merged.n, 1_000);
});

test('the order of merging does not matter', () => {
  const trends = [
    { n: 2, sum: 3, min: 1, max: 2, b: [OFFSET, 1, 16, 1] },
    { n: 1, sum: 8, min: 8, max: 8, b: [OFFSET + 48, 1] },
    { n: 3, sum: 0, min: 0, max: 0, b: [0, 3] },
  ];
  const of = order => {
    const merged = new Buckets(4);
    for (const i of order) merged.add(trends[i]);
    return [merged.n, merged.sum, merged.min, merged.max, merged.entries(), merged.quantile(0.5)];
  };
  assert.deepEqual(of([0, 1, 2]), of([2, 1, 0]));
});

test('a quantile never lies outside of what was seen', () => {
  const merged = new Buckets(4);
  merged.add({ n: 1, sum: 1.01, min: 1.01, max: 1.01, b: [OFFSET + 1, 1] });
  assert.equal(merged.quantile(0.5), 1.01);
  assert.equal(new Buckets(4).quantile(0.5), null);
});

test('negative values come before zero, zero before positive ones', () => {
  const merged = new Buckets(4);
  merged.add({ n: 3, sum: 0, min: -4, max: 4, b: [-(OFFSET + 32), 1, OFFSET + 32, 1, OFFSET + 32, 1] });
  assert.ok(merged.quantile(0.1) < 0);
  assert.equal(merged.quantile(0.5), 0);
  assert.ok(merged.quantile(1) > 0);
});

const vectors = new URL('../vectors.json', import.meta.url);

test('the binary computes the same buckets and quantiles', () => {
  const { scale, vectors: all } = JSON.parse(readFileSync(vectors, 'utf8'));
  for (const { values, trend, quantiles } of all) {
    const counts = new Map();
    for (const value of values) counts.set(keyOf(value, scale), (counts.get(keyOf(value, scale)) ?? 0) + 1);
    const merged = new Buckets(scale);
    merged.add(trend);
    assert.deepEqual(
      merged.entries(),
      [...counts].sort(([x], [y]) => x - y),
    );
    for (const [q, expected] of quantiles) {
      const ours = merged.quantile(q) ?? 0;
      assert.ok(Math.abs(ours - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${q} of ${values}: ${ours}`);
    }
  }
});
