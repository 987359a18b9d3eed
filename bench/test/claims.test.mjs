import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../lib/claims.mjs';

const measures = { rate: { better: 'higher' }, cost: { better: 'lower' } };
const row = (figures) => Object.fromEntries(Object.entries(figures).map(([name, median]) => [name, { median, min: median, max: median, count: 5 }]));
const rows = { sonagi: row({ rate: 100, cost: 4 }), oha: row({ rate: 80, cost: 6 }), wrk: row({ rate: 125, cost: 5 }), lame: row({ cost: 0 }) };

const verdict = (claim) => judge(claim, rows, measures);

test('a ratio claim divides the medians of its rows', () => {
  assert.deepEqual(verdict({ measure: 'rate', of: 'sonagi', against: 'oha', atLeast: 1.25 }), { verdict: 'met', figure: 1.25, of: 'sonagi', against: 'oha' });
  assert.equal(verdict({ measure: 'rate', of: 'sonagi', against: 'oha', atLeast: 1.26 }).verdict, 'not met');
  assert.equal(verdict({ measure: 'cost', of: 'sonagi', against: 'oha', atMost: 0.66 }).verdict, 'not met');
});

test('a bound itself is met', () => {
  assert.equal(verdict({ measure: 'cost', of: 'sonagi', atMost: 4 }).verdict, 'met');
  assert.equal(verdict({ measure: 'cost', of: 'sonagi', atMost: 3.99 }).verdict, 'not met');
});

test('of several rows the best is taken, which for a cost is the least', () => {
  assert.equal(verdict({ measure: 'rate', of: 'sonagi', against: ['oha', 'wrk'], atLeast: 1 }).against, 'wrk');
  assert.equal(verdict({ measure: 'cost', of: ['oha', 'wrk'], against: 'sonagi', atLeast: 1 }).of, 'wrk');
});

test('a claim whose rows have no figure is not judged, never met', () => {
  assert.deepEqual(verdict({ measure: 'rate', of: 'sonagi', against: 'k6', atLeast: 1 }), { verdict: 'not judged', why: 'no figure of k6' });
  assert.equal(verdict({ measure: 'rate', of: 'lame', atMost: 1 }).verdict, 'not judged');
  assert.equal(verdict({ measure: 'cost', of: 'sonagi', against: 'lame', atMost: 1 }).verdict, 'not judged');
});

test('a claim that must never fail is judged by its worst run', () => {
  const runs = { sonagi: { received: { median: 1, min: 0.999, max: 1, count: 5 }, missed: { median: 0, min: 0, max: 0.01, count: 5 } } };
  assert.equal(judge({ measure: 'received', of: 'sonagi', atLeast: 1 }, runs, {}).verdict, 'met');
  assert.deepEqual(judge({ measure: 'received', of: 'sonagi', atLeast: 1, worst: true }, runs, {}), { verdict: 'not met', figure: 0.999, of: 'sonagi', against: undefined });
  assert.equal(judge({ measure: 'missed', of: 'sonagi', atMost: 0, worst: true }, runs, {}).figure, 0.01);
});

test('a figure above what can be is told as the cap', () => {
  const claim = { measure: 'rate', of: 'wrk', against: 'oha', atLeast: 1.2, cap: 1.5 };
  assert.deepEqual(verdict({ ...claim, cap: 1.5 }), { verdict: 'met', figure: 1.5, of: 'wrk', against: 'oha', capped: true });
  assert.equal(verdict({ ...claim, cap: 2 }).figure, 1.5625);
});

test('a row that failed once judges nothing', () => {
  const counts = { sonagi: { runs: 5, failed: 0, short: 0 }, oha: { runs: 5, failed: 1, short: 0 } };
  const claim = { measure: 'rate', of: 'sonagi', against: 'oha', atLeast: 1 };
  assert.deepEqual(judge(claim, rows, measures, counts), { verdict: 'not judged', why: '1 of 5 runs of oha failed' });
});

test('runs that fell short are told with the verdict', () => {
  const counts = { sonagi: { runs: 5, failed: 0, short: 2 } };
  const { verdict: found, short } = judge({ measure: 'rate', of: 'sonagi', against: 'oha', atLeast: 1 }, rows, measures, counts);
  assert.deepEqual([found, short], ['met', 'sonagi fell short in 2 of 5 runs']);
});
