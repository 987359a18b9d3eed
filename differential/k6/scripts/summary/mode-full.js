// --summary-mode full: groups and scenarios apart
// flags: --summary-mode full
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { scenarios: { one: { executor: 'shared-iterations' }, two: { executor: 'shared-iterations', startTime: '300ms', exec: 'other' } }, thresholds: { http_reqs: ['count>1'] } };
export default function () { group('outer', () => { check(http.get(`${__ENV.TARGET}/`), { first: true }); group('inner', () => { check(1, { deep: false }); counter.add(1); }); }); }
export function other() { check(1, { elsewhere: true }); }
