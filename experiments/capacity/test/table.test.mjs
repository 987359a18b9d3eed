import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdown, merged } from '../../../bench/lib/markdown.mjs';
import { TABLE, isHeld, rowOf, told } from '../lib/table.mjs';

const LIMIT = { truth: 500 };
const good = { end: 'bracket', low: 494, high: 520, trials: 17, trial_s: 200.4, took_s: 214, load: 0.5 };
const wrong = { ...good, low: 508, high: 534, trials: 18, took_s: 220, load: 1.25 };
const by = { trial: '20s', where: 'here' };

test('a search holds the truth that its bracket has, edges and all', () => {
  for (const [search, held] of [
    [good, true],
    [wrong, false],
    [{ ...good, low: 500 }, true],
    [{ ...good, high: 500 }, true],
    [{ ...good, end: 'budget' }, false],
    [{ ...good, low: null }, false],
    [{ ...good, high: null }, false],
    [{ error: 'it ended' }, false],
  ]) {
    assert.equal(isHeld(LIMIT, search), held, JSON.stringify(search));
  }
});

test('a search is told in a line', () => {
  assert.equal(told('bucket500', LIMIT, good), 'bucket500: 494–520 holds 500; 5.0 % wide, 17 trials of 200 s, took 214 s');
  assert.match(told('bucket500', LIMIT, { ...wrong, end: 'budget', high: null }), /508–- does NOT hold \(budget\) 500; - wide/);
  assert.equal(told('pool', LIMIT, { error: 'it ended' }), 'pool: FAILED: it ended');
});

test('a row has what all searches for a limit came to, and what failed does not hold', () => {
  assert.deepEqual(rowOf('bucket500', LIMIT, [good, wrong, good, { error: 'it ended' }], by), [
    ...['bucket500', '20s', '500', '4', '2', '494–520 (2 times), 508–534'],
    ...['4.9 %–5.0 %', '17–18', '200 s', '214 s', '0.5–1.3', 'here'],
  ]);
  assert.equal(rowOf('pool', LIMIT, [{ error: 'it ended' }], by)[5], '-');
});

test('rows of a page stay unless they were made again', () => {
  const row = (name, trial, held) => [name, trial, ...Array(10).fill(held)];
  const page = markdown(TABLE, [row('a', '20s', 'old'), row('b', '20s', 'old'), row('b', '4s', 'old')]);
  const wanted = [row('a', '20s', 'old'), row('b', '20s', 'new'), row('b', '4s', 'old'), row('c', '20s', 'new')];
  assert.deepEqual(merged(TABLE, page, [row('b', '20s', 'new'), row('c', '20s', 'new')]), wanted);
});
