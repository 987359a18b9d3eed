// A bit of everything: requests, checks, a metric, a threshold, an exception, a warning, a file
// quick
// flags: --out csv=left.csv
// leaves: left.csv
import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';
const own = new Trend('own');
export const options = { iterations: 2, thresholds: { own: ['avg>1'] } };
export default function () {
  http.get(`${__ENV.TARGET}/first`);
  const r = http.post(`${__ENV.TARGET}/second`, 'of the script', { headers: { 'x-own': '1', 'x-other': '2' } });
  http.get('http://127.0.0.1:1/');
  check(r, { 'the first': (r) => r.status === 200, 'the second': (r) => r.status === 404 });
  for (const value of [1, 2, 3, 10]) own.add(value);
  console.log('iteration', __ITER);
  if (__ITER === 1) throw new Error('on purpose');
}
export function teardown() { console.log('teardown'); }
