// Rates and the test's duration: setup and teardown count
// quick
// leaves: state.json
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { scenarios: { three: { executor: 'per-vu-iterations', vus: 3, iterations: 5 } }, thresholds: { iterations: ['rate<4'], http_reqs: ['rate<0.3'] } };
export function setup() { http.get(`${__ENV.TARGET}/first`); sleep(1.4); }
export default function () { sleep(0.42); }
export function teardown() { sleep(1.3); }
export function handleSummary({ state }) { return { 'state.json': JSON.stringify(state) }; }
