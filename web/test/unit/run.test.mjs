import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recorder } from '../fixtures/recorder.mjs';
import { chat, long } from '../fixtures/runs.mjs';
import { load } from '../load.mjs';

const { columnsOf, decode, levels, perSecond, Run, shares, trends } = await load('data/index.ts');

function read(lines) {
  const run = new Run();
  for (const line of lines) run.take(line);
  return run;
}

function counted(spans) {
  const recorder = new Recorder({ name: 'any', language: 'artillery' });
  let at = 0;
  const lines = [recorder.lines[0]];
  spans.forEach((span, i) => {
    at += span;
    const frame = { s: i, at, span, v: [[0, 10]] };
    if (i === 0) frame.names = [[0, { metric: 'n', kind: 'counter', unit: 'number' }]];
    lines.push({ frame });
  });
  return read(lines);
}

test('a window is made of the whole frames that it touches', () => {
  const run = counted([1, 1, 1, 1]);
  assert.deepEqual(run.framesWithin(1.5, 2.5), [1, 3]);
  assert.deepEqual(run.framesWithin(1, 2), [1, 2]);
  assert.deepEqual(run.framesWithin(-5, 50), [0, 4]);
  const columns = columnsOf(run, [1.5, 2.5]);
  assert.deepEqual([columns.from, columns.to], [1, 3]);
});

test('an edge of a window is that of a frame, however both were added up', () => {
  const run = counted(Array(50).fill(0.1));
  for (let first = 0; first < 50; first += 1) {
    for (let end = first + 1; end <= 50; end += 1) {
      assert.deepEqual(run.framesWithin(first * 0.1, end * 0.1), [first, end], `${first} to ${end}`);
      assert.deepEqual(run.framesWithin(first / 10, end / 10), [first, end], `${first} to ${end}`);
    }
  }
  assert.deepEqual(run.framesWithin(0.31, 0.39), [3, 4]);
  assert.deepEqual(run.framesWithin(0.3, 0.3), [3, 3]);
  assert.deepEqual(run.framesWithin(0.299, 0.302), [2, 4]);
});

test('columns of many frames add up to what the frames had', () => {
  const run = counted(Array(2_500).fill(1));
  const columns = columnsOf(run, null);
  assert.ok(columns.middles.length <= 1_200);
  const values = perSecond(columns, run.sum('n'));
  const total = values.reduce((sum, value, i) => sum + value * (columns.ends[i] - columns.starts[i]), 0);
  assert.ok(Math.abs(total - 25_000) < 1e-6);
});

test('the last moments of a run are no column of their own', () => {
  const run = counted([1, 1, 0.003, 0]);
  const columns = columnsOf(run, null);
  assert.deepEqual(columns.starts, [0, 1]);
  assert.deepEqual(columns.ends, [1, 2.003]);
  assert.equal(run.sum('n').added(columns.frames[1], columns.frames[2]), 30);
});

test('a gauge keeps its last level, and has none before its first', () => {
  const recorder = new Recorder({ name: 'any', language: 'artillery' });
  recorder.tick();
  recorder.gauge('g', 5);
  recorder.gauge('g', 3);
  recorder.tick();
  recorder.tick();
  const run = read(recorder.lines);
  assert.deepEqual(levels(columnsOf(run, null), run.sum('g')), [null, 3, 3]);
  assert.deepEqual(run.sum('g').level(0, 3), [3, 3, 5]);
});

test('a rate is the share of all that was counted, not a mean of shares', () => {
  const recorder = new Recorder({ name: 'any', language: 'k6' });
  recorder.rate('r', true);
  recorder.tick();
  for (let i = 0; i < 9; i += 1) recorder.rate('r', false);
  recorder.tick();
  const run = read(recorder.lines);
  assert.deepEqual(run.sum('r').rated(0, 2), [1, 10]);
  assert.deepEqual(shares(columnsOf(run, null), run.sum('r')), [1, 0]);
});

test('percentiles of any window are those of its values, within the bound of the buckets', () => {
  const recorded = chat();
  const run = read(recorded.lines);
  for (const [from, to] of [
    [0, 60],
    [30, 35],
    [12, 13],
    [20, 41],
  ]) {
    const [first, end] = run.framesWithin(from, to);
    for (const tags of [{}, { operation: 'emit sendMessage' }]) {
      for (const q of [0.5, 0.9, 0.99, 0.999]) {
        const ours = run.sum('response_time', tags).merged(first, end).quantile(q);
        const exact = recorded.quantile('response_time', tags, from, to, q);
        assert.ok(Math.abs(Math.log2(ours / exact)) <= 0.5 / 16 + 1e-9, `${from}–${to} ${q}`);
      }
    }
  }
});

test('every value is in one column', () => {
  const run = read(long({ seconds: 3_000, span: 1, values: 2 }).lines);
  const columns = columnsOf(run, null);
  const byColumn = trends(columns, run.sum('response_time'));
  assert.equal(
    byColumn.reduce((sum, one) => sum + one.n, 0),
    run.sum('response_time').merged(0, run.frames).n,
  );
});

test('a damaged file shows what came before the damage', async () => {
  const { gzipSync } = await import('node:zlib');
  const text = chat()
    .lines.map(line => `${JSON.stringify(line)}\n`)
    .join('');
  const packed = gzipSync(text);
  const whole = await decode(packed.toString('base64'));
  assert.equal(whole.problem, null);
  assert.equal(whole.lines.length, chat().lines.length);
  const torn = await decode(packed.subarray(0, packed.length / 2).toString('base64'));
  assert.ok(torn.lines.length > 5 && torn.lines.length < whole.lines.length);
  assert.notEqual(torn.problem, null);
});

test('lanes of the target come first among what has an explanation, and what scripts measure before them', async () => {
  const { isProbed, others } = await load('data/sources.ts');
  const recorder = new Recorder({ name: 'any', language: 'artillery' });
  const about = { en: 'It is.', ko: '입니다.' };
  const names = ['reconnects', 'host.cpu', 'basket', 'target.cpu', 'postgres.active', 'host.softnet.dropped'].map(
    (metric, i) => [i, { metric, kind: 'gauge', unit: 'number', tags: {}, ...(metric === 'basket' ? {} : { about }) }],
  );
  const frame = { s: 0, at: 1, span: 1, names, v: names.map(([i]) => [i, [1, 1, 1]]) };
  const lanes = others(read([recorder.lines[0], { frame }]));
  assert.deepEqual(lanes.own, ['basket', 'target.cpu', 'host.cpu', 'postgres.active']);
  assert.deepEqual(lanes.known.sort(), ['host.softnet.dropped', 'reconnects']);
  assert.deepEqual([isProbed('target.cpu'), isProbed('targets')], [true, false]);
});
