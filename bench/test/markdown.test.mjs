import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdown, merged, number, percent, range } from '../lib/markdown.mjs';

const TABLE = { head: ['what', 'how many'], right: ['how many'] };

test('a table has a line a row, and figures to the right', () => {
  assert.equal(markdown(TABLE, [['pool', 3]]), '| what | how many |\n| --- | --: |\n| pool | 3 |');
});

test('rows that are made anew stand where those of their key stood, and the others stay', () => {
  const page = `Above.\n\n${markdown(TABLE, [['a', ''], ['b', '2'], ['b', '3'], ['c', '4']])}\n\nBelow | it.`;
  const rows = [['b', '7'], ['d', '8']];
  assert.deepEqual(merged(TABLE, page, rows), [['a', ''], ['b', '7'], ['c', '4'], ['d', '8']]);
});

test('a page without a table has the new rows alone', () => {
  assert.deepEqual(merged(TABLE, 'Not measured yet.', [['a', '1']]), [['a', '1']]);
});

test('a key may be of several cells', () => {
  const table = { ...TABLE, keyOf: ([what, count]) => `${what} ${count}` };
  assert.deepEqual(merged(table, markdown(table, [['a', '1']]), [['a', '2']]), [['a', '1'], ['a', '2']]);
});

test('with an order rows stand in it, and what it does not name is dropped', () => {
  const table = { ...TABLE, order: ['c', 'b', 'never measured'] };
  const page = markdown(table, [['a', '1'], ['b', '2']]);
  assert.deepEqual(merged(table, page, [['c', '3']]), [['c', '3'], ['b', '2']]);
});

test('a table with other columns is not taken for ours', () => {
  const page = markdown({ head: ['what', 'how long'] }, [['a', '1 s']]);
  assert.throws(() => merged(TABLE, page, [['a', '1']]), /other columns: what, how long/);
});

test('numbers, shares and ranges read alike in all tables', () => {
  assert.equal(number(1_234_567.4), '1,234,567');
  assert.equal(percent(0.0494), '4.9 %');
  assert.equal(percent(NaN), '-');
  const tenths = (figure) => figure.toFixed(1);
  assert.equal(range([3, 1, 2]), '1–3');
  assert.equal(range([0.52, 0.48], tenths), '0.5');
  assert.equal(range([]), '-');
});
