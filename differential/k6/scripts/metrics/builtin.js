// A built-in metric by its name: its samples count with k6's own
import { Counter, Trend, Rate } from 'k6/metrics';
import http from 'k6/http';
const requests = new Counter('http_reqs'), failed = new Rate('http_req_failed');
export const options = { iterations: 1 };
export default function () { http.get(`${__ENV.TARGET}/`); requests.add(5); failed.add(true); }
