// Requests, checks and metrics of setup and teardown count, in groups of their own
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export const options = { iterations: 1 };
export function setup() {
  check(http.get(`${__ENV.TARGET}/setup`), { 'in setup': (r) => r.status === 200 });
  group('inner', () => mine.add(1));
}
export default function () { http.get(`${__ENV.TARGET}/iteration`); }
export function teardown() {
  check(http.get(`${__ENV.TARGET}/teardown`), { 'in teardown': (r) => r.status === 200 });
  mine.add(2);
}
