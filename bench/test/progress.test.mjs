import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES, load } from '../cases/index.mjs';
import { options } from '../lib/options.mjs';
import { Progress } from '../lib/progress.mjs';
import { TOOLS } from '../tools/index.mjs';

const quiet = (make) => {
  const { error } = console;
  console.error = () => {};
  try {
    return make();
  } finally {
    console.error = error;
  }
};

test('runs are counted by rounds, and what a row’s own limit leaves of them', () => {
  const kase = { seconds: 2, calibration_s: 60 };
  const contestants = [{ name: 'a' }, { name: 'b', rounds: 2 }, { name: 'c', runs: 3, seconds: 1 }];
  const { total, total_s } = quiet(() => new Progress([{ kase, contestants, runs: 5 }]));
  assert.equal(total, 5 + 2 + 15);
  assert.equal(Math.round(total_s), Math.round(60 + 7 * 2.4 + 15 * 1.4));
});

test('the whole bench, without what is slow, is meant to end within three quarters of an hour, installation apart', async () => {
  const { wants, runs } = options({}, CASES, Object.keys(TOOLS));
  const cases = await Promise.all(CASES.map(load));
  const { total_s } = quiet(() => new Progress(cases.map((kase) => ({ kase, contestants: kase.contestants.filter(wants), runs }))));
  assert.ok(total_s <= 44 * 60, `${total_s / 60} min`);
});
