import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merged } from '../../../bench/lib/markdown.mjs';
import { KINDS } from '../lib/kinds.mjs';
import { normal, random, seedOf } from '../../../bench/lib/random.mjs';
import { TABLE, judged, page, rowsOf, told } from '../lib/table.mjs';

const pair = (verdict, more = {}) => ({
  verdict,
  ratio: 1.02,
  interval: [0.98, 1.06],
  spread: 0.04,
  truth: 1.01,
  others: [],
  left_out: 0,
  failed: 0,
  again: 0,
  stolen: 0.001,
  load: 0.5,
  took_s: 50,
  ...more,
});
const of = (slower, pairs) => ({ kind: { name: 'x', about: 'a service', slower }, pairs });
const many = (count, verdict, more) => Array.from({ length: count }, () => pair(verdict, more));
const rows = (results) => rowsOf(results, { runs: 10, where: 'here' });
const claims = (rows) => judged(rows).map(({ count, of, isMet }) => [count, of, isMet]);
const met = (results) => claims(rows(results));

test('two of forty identical pairs may be called different, and three may not', () => {
  const second = (different) => [...many(20 - different, 'inconclusive'), ...many(different, 'better')];
  const kinds = (different) => [of(1, many(20, 'same')), of(1, second(different))];
  assert.deepEqual(met(kinds(2))[0], [2, 40, true]);
  assert.deepEqual(met(kinds(3))[0], [3, 40, false]);
});

test('a planted change counts only when it is called the right way', () => {
  const right = [...many(9, 'worse', { slow: 'b' }), ...many(9, 'better', { slow: 'a' })];
  assert.deepEqual(met([of(1.1, [...right, ...many(2, 'better', { slow: 'b' })])])[0], [18, 20, true]);
  assert.deepEqual(met([of(1.1, [...right, ...many(3, 'inconclusive', { slow: 'b' })])])[0], [18, 21, false]);
});

test('a pair without a verdict is not as wanted', () => {
  for (const broken of [{ error: 'no service' }, pair('not_comparable')]) {
    assert.equal(judged(rows([of(1, [...many(19, 'same'), broken])])).every(({ isMet }) => isMet), false);
  }
});

test('a table tells what pairs came to, and a pair that failed is counted', () => {
  const called = pair('worse', { slow: 'b', ratio: 1.1, others: ['failed_share'], left_out: 2, again: 3 });
  const pairs = [called, { error: 'no service' }];
  const [, , row] = page(rows([of(1.1, pairs)])).split('\n');
  const cells = row.split('|').map((cell) => cell.trim()).slice(1, -1);
  assert.deepEqual(cells.slice(0, 8), ['a service', '2', '10', '1', '1', '0', '0', '1']);
  const ranges = ['1.100', '1.010', '4.0 % (4.0 %)', 'in 1 pairs', '2', '3', '0.1 % (0.1 %)', '0.5', 'here'];
  assert.deepEqual(cells.slice(8), ranges);
  assert.match(told('x', 1, pairs[0]), /^x 1: WORSE \(B is the slower one\): B ÷ A 1\.100 \(0\.980–1\.060\)/);
  assert.equal(told('x', 2, pairs[1]), 'x 2: FAILED: no service');
});

test('a kind that was made again is judged with those that stand on the page', () => {
  const kinds = Object.values(KINDS);
  const verdicts = ['same', 'better', 'same'];
  const before = rows(kinds.map((kind, at) => ({ kind, pairs: many(20, verdicts[at]) })));
  const fresh = rows([{ kind: KINDS['room-same'], pairs: many(20, 'same') }]);
  const all = merged(TABLE, page(before), fresh);
  assert.deepEqual(all.map(([about]) => about), kinds.map(({ about }) => about));
  assert.deepEqual(claims(fresh), [[0, 20, true], [0, 20, true]]);
  assert.deepEqual(claims(all), [[0, 40, true], [0, 20, false], [0, 60, true]]);
  assert.match(page(all), /- identical pairs called different: 0 of 40 \(as wanted\)/);
});

test('what a service draws has the p99 that it is said to have, and neighbouring seeds have nothing in common', () => {
  const next = random(seedOf(1, 2, 3));
  const drawn = Array.from({ length: 100_000 }, () => 20 * Math.exp(0.5 * normal(next))).sort((a, b) => a - b);
  // e^(0.5 · 2.3263) times the median; of so many it is within a hundredth.
  assert.ok(Math.abs(drawn[99_000] / (20 * Math.exp(0.5 * 2.3263)) - 1) < 0.02, `${drawn[99_000]}`);
  const firsts = Array.from({ length: 1_000 }, (_, number) => random(seedOf(1, number))());
  assert.equal(new Set(firsts).size, 1_000);
  const mean = firsts.reduce((sum, first) => sum + first, 0) / 1_000;
  assert.ok(Math.abs(mean - 0.5) < 0.04, `${mean}`);
});
