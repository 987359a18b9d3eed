import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../load.mjs';

const { en } = await load('text/en.ts');
const { ko } = await load('text/ko.ts');
globalThis.document = { documentElement: {} };
const { judged } = await load('panels/thresholds.ts');
const { quoted } = await load('panels/reproduce.ts');
const format = await load('text/format.ts');

function paths(table, prefix = '') {
  return Object.entries(table).flatMap(([key, value]) =>
    typeof value === 'object' ? paths(value, `${prefix}${key}.`) : [`${prefix}${key}:${typeof value}`],
  );
}

test('both languages say the same things', () => {
  assert.deepEqual(paths(ko).sort(), paths(en).sort());
});

test('a threshold of one figure and one limit has a value and a margin', () => {
  const of = (expression, evidence) => judged({ expression, evidence, strict: true, held: true, metrics: [] });
  assert.deepEqual(of('delivery.latency_ms.p99 < 1000', 'delivery.latency_ms.p99 = 3.763'), {
    limit: 1000,
    value: 3.763,
    below: true,
    operator: '<',
  });
  assert.deepEqual(of('checks: rate>0.99', 'rate = 0'), { limit: 0.99, value: 0, below: false, operator: '>' });
  assert.deepEqual(of('sonagi_leaked: count==0', 'count = 0'), { limit: 0, value: 0, below: false, operator: '==' });
  assert.equal(of('a < 1 and b < 2', 'a = 0, b = 1'), null);
});

test('a command reads as a shell takes it', () => {
  assert.equal(['sonagi', 'run', 'a b.yml', "it's"].map(quoted).join(' '), "sonagi run 'a b.yml' 'it'\\''s'");
});

test('what is less than all never reads as 100 %', () => {
  assert.equal(format.share(1), '100 %');
  assert.equal(format.share(0.99999), '99.999 %');
  assert.equal(format.share(0.9999996), '99.99996 %');
  assert.equal(format.share(0.954), '95.4 %');
});

test('moments and amounts have their units', () => {
  assert.equal(format.clock(0), '0:00');
  assert.equal(format.clock(65), '1:05');
  assert.equal(format.clock(3_725), '1:02:05');
  assert.equal(format.clock(30.412, true), '0:30.4');
  assert.equal(format.milliseconds(0.3637), '0.364 ms');
  assert.equal(format.milliseconds(12_500), '12.5 s');
  assert.equal(format.bytes(41_200_000), '41.2 MB');
  assert.equal(format.value(0.5, 'share'), '50 %');
  assert.equal(format.milliseconds(null), '–');
});
