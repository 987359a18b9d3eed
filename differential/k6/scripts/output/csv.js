// --out csv
// flags: --out csv=samples.csv
// leaves: samples.csv
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 2 };
export default function () {
  check(http.get(`${__ENV.TARGET}/?q=a,b`, { tags: { own: 'tag', name: 'with "quotes", and commas' } }), { yes: true });
  group('g', () => counter.add(1.5, { z: '1', a: '2' }));
}
