// Thresholds of a part of a metric, by tags
// quick
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 2, thresholds: { 'counter{a:b}': ['count==2'], 'counter{a:b,c:d}': ['count==1'], 'counter{ a : b }': ['count>0'], 'counter{none:there}': ['count==0'], 'http_req_duration{status:200}': ['max<5000'], 'http_reqs{scenario:default,method:GET}': ['count==2'], 'http_req_failed{name:x}': ['rate<0.1'] } };
export default function () { counter.add(1, { a: 'b', ...(__ITER === 0 && { c: 'd' }) }); counter.add(5, { a: 'z' }); http.get(`${__ENV.TARGET}/`); }
