// handleSummary: what it is given, and the files it returns
// quick
// leaves: given.json report.txt bytes.bin
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('counter'), gauge = new Gauge('gauge'), rate = new Rate('rate'), trend = new Trend('trend', true);
export const options = { iterations: 2, tags: { a: 'b' }, thresholds: { counter: ['count>1', 'count>99'], 'http_req_duration{status:200}': ['max<9999'] } };
export function setup() { return { of: 'setup' }; }
export default function () {
  group('outer', () => { check(http.get(`${__ENV.TARGET}/`), { first: true, second: __ITER === 0 }); group('inner', () => check(1, { deep: true })); });
  counter.add(1); gauge.add(__ITER); rate.add(__ITER === 0); trend.add(5);
}
// Members in the order of their names; a counter's rate is a matter of time.
const told = (of) => JSON.stringify(of, (key, value) => (value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'rate' || of.type === 'rate').sort(([a], [b]) => (a < b ? -1 : 1))) : value));
export function handleSummary(data) {
  console.log('summary', Object.keys(data).sort().join(), Object.keys(data.metrics).sort().join(), told(data.metrics.counter), told(data.metrics.gauge), told(data.metrics.rate), told(data.metrics.trend), data.setup_data.of);
  return { stdout: 'to the standard output\n', stderr: 'to the standard error\n', 'given.json': JSON.stringify(data, (key, value) => (['rate', 'duration', 'testRunDurationMs'].includes(key) ? 0 : value)), 'report.txt': `checks ${data.metrics.checks.values.passes}\n`, 'bytes.bin': new Uint8Array([65, 66]).buffer };
}
