import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdown, merged } from '../../../bench/lib/markdown.mjs';
import { LOCATIONS, locationRows, ordered } from '../lib/tables.mjs';

const MADE = { name: 'locations', version: '0.2.0', started: '2026-11-26T22:34:29Z', machine: '2 cores' };
const HEAP = {
  jvm_memory_used_bytes: { level: { value: 90e6, min: 20e6, max: 300e6 } },
  jvm_memory_used_after_gc_bytes: { level: { value: 30e6, min: 10e6, max: 42e6 } },
};
const summary = ({ p50 = 2, cpu = 5, lost = 0, failed = 0, result = 'pass', watched = HEAP } = {}) => ({
  complete: true,
  interrupted: false,
  verdict: { result },
  users: { started: 1000, failed },
  delivery: {
    ...{ owed: 100_000, delivered: 99_000 - lost, late: 900, replayed: 100, lost },
    latency_ms: { p50, p99: 100 * p50 },
  },
  watched,
  service: { cpu_s: cpu, resident_peak_mb: 412.3 },
});
const run = (transport, service, more, rest = {}) => ({
  combination: { transport, service, users: 1000 },
  is_anchor: false,
  summary: summary(more),
  ...rest,
});
const of = (count) => `${count} runs, Sonagi 0.2.0, 2026-11-26, 2 cores`;

test('a run has a row: what arrived, how late, and what it cost the service', () => {
  const runs = [run('ws', 'spring', { lost: 1, failed: 2 }), run('ws', 'sonagi', { watched: {}, cpu: 0.5 })];
  const spring = ['99.9 %', '2 of 1,000', '2.00 ms', '200 ms', '5.00', '50.0', '412', '300', '90', '42'];
  const sonagi = ['100 %', '0 of 1,000', '2.00 ms', '200 ms', '0.500', '5.00', '412', '-', '-', '-'];
  assert.deepEqual(locationRows({ ...MADE, runs }), [
    ['1,000', 'ws', 'spring', ...spring, of('1 of 1')],
    ['1,000', 'ws', 'sonagi', ...sonagi, of('1 of 1')],
  ]);
});

test('repeated runs are a row of medians over the sound ones', () => {
  const sound = [1, 3, 2].map((p50) => run('sse', 'spring', { p50, cpu: 4 + p50, failed: p50 }));
  const unsound = [run('sse', 'spring', { result: 'invalid' }), run('sse', 'spring', {}, { summary: null })];
  const anchor = run('sse', 'spring', { p50: 99 }, { is_anchor: true });
  const [row, ...others] = locationRows({ ...MADE, runs: [...sound, ...unsound, anchor] });
  assert.deepEqual(others, []);
  assert.deepEqual(row.slice(3, 9), ['100 %', '6 of 3,000', '2.00 ms', '200 ms', '6.00', '60.0']);
  assert.equal(row.at(-1), of('3 of 5'));
});

test('a combination without a sound run has no figures', () => {
  const runs = [run('stomp', 'spring', {}, { summary: null, error: 'the service is not built' })];
  const dashes = Array(LOCATIONS.head.length - 4).fill('-');
  assert.deepEqual(locationRows({ ...MADE, runs }), [['1,000', 'stomp', 'spring', ...dashes, of('0 of 1')]]);
});

test('a run without copies has neither a share nor a cost of one', () => {
  const none = summary();
  Object.assign(none.delivery, { owed: 0, delivered: 0, late: 0, replayed: 0, lost: 0 });
  const [row] = locationRows({ ...MADE, runs: [run('ws', 'spring', {}, { summary: none })] });
  assert.deepEqual([row[3], row[8]], ['-', '-']);
});

test('Socket.IO comes from the conversation of the six transports, whose service is sonagi serve', () => {
  const runs = [{ combination: { transport: 'socketio', users: 10_000 }, is_anchor: false, summary: summary({ watched: {} }) }];
  const [row] = locationRows({ ...MADE, name: 'groups-of-ten', runs });
  assert.deepEqual(row.slice(0, 4), ['10,000', 'socketio', 'sonagi', '100 %']);
});

test('a run of another conversation is refused', () => {
  assert.throws(() => locationRows({ ...MADE, name: 'ten-groups', runs: [] }), /got a run of ten-groups\nhint: leave out --name/);
});

test('rows stand by users, then by transport, the services beside each other, and are replaced one by one', () => {
  const matrix = (runs) => locationRows({ ...MADE, runs });
  const many = { combination: { transport: 'poll', service: 'spring', users: 10_000 } };
  const first = matrix([run('ws', 'sonagi'), run('poll', 'sonagi'), run('ws', 'spring'), run('poll', 'spring', {}, many)]);
  const text = markdown(LOCATIONS, ordered(merged(LOCATIONS, '', first)));
  const later = ordered(merged(LOCATIONS, text, matrix([run('poll', 'spring'), run('ws', 'spring', { p50: 7 })])));
  assert.deepEqual(
    later.map((row) => [...row.slice(0, 3), row[5]].join(' ')),
    [
      '1,000 poll spring 2.00 ms',
      '1,000 poll sonagi 2.00 ms',
      '1,000 ws spring 7.00 ms',
      '1,000 ws sonagi 2.00 ms',
      '10,000 poll spring 2.00 ms',
    ],
  );
});
