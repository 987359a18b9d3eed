// abortOnFail: the test ends when a threshold is crossed, teardown runs, exit code 99
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '20s', gracefulStop: '10s' } }, thresholds: { counter: [{ threshold: 'count<1', abortOnFail: true }] } };
export default function () { counter.add(1); sleep(30); }
export function teardown() { console.log('teardown'); }
