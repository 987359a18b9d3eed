import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { merged } from '../../../bench/lib/markdown.mjs';
import { RATIO, rows } from '../lib/tables.mjs';

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const summary = (p95) => ({
  complete: true,
  interrupted: false,
  verdict: { result: 'pass' },
  users: { planned: 45, started: 45, failed: 0, session_ms: { mean: 2_000 + p95, p95: 2_000 + 2 * p95 } },
  kinds: [
    { kind: 'http', response_ms: { mean: p95 / 2, p95, p99: 2 * p95 } },
    { kind: 'socketio_request', rate_per_s: 2.7 },
  ],
});
const matrix = (axes, hosts) => ({
  ...{ version: '0.2.0', started: '2026-11-26T22:34:29Z', machine: '2 cores', axes },
  runs: hosts.map(([host, p95]) => ({ combination: { service: 'nest', host }, summary: summary(p95) })),
});

test('our machines have the figures of the report, in the rows that stand on the page for them', () => {
  const [small, free, ratio] = rows(matrix(['service', 'host'], [['none', 30], ['t2.micro', 90]]));
  const measured = '1 of 1 runs of 45 users, Sonagi 0.2.0, 2026-11-26, 2 cores';
  const times = ['45.0 ms', '90.0 ms', '180 ms', '2,090 ms', '2,180 ms'];
  assert.deepEqual(small, ['here: NestJS, t2.micro', '0 of 45', '2.70', ...times, measured]);
  assert.deepEqual(free.slice(3, 6), ['15.0 ms', '30.0 ms', '60.0 ms']);
  assert.deepEqual(ratio.slice(2, -1), ['1.00 ×', '3.00 ×', '3.00 ×', '3.00 ×', '1.03 ×', '1.06 ×']);
  const [, text] = read('README.md').match(/<!-- ratio:begin -->\n([^]*)<!-- ratio:end -->/);
  const standing = merged(RATIO, text, []).map(([whose]) => whose);
  const after = merged(RATIO, text, [small, free, ratio]);
  assert.deepEqual(after.map(([whose]) => whose), standing);
  assert.deepEqual(after.find(([whose]) => whose === small[0]), small);
});

test('a matrix of 002, whose script has the same name, is refused', () => {
  const other = matrix(['service', 'remedy', 'host'], [['none', 30], ['t2.micro', 90]]);
  assert.throws(() => rows(other), /experiments\/002/);
});

test('both hosts are asked on both services', () => {
  const script = read('chat.yml');
  assert.match(script, /^ {2}service: \[nest, sonagi\]$/m);
  assert.match(script, /^ {2}host: \[none, t2\.micro\]$/m);
});
