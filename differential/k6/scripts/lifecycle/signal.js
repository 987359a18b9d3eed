// SIGINT: the running iteration is interrupted, teardown and the summary come, exit code 105
// signal: SIGINT 1200
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '20s', gracefulStop: '20s' } } };
export function setup() { return 7; }
export default function () {
  console.log('begins');
  sleep(30);
}
export function teardown(data) { console.log('teardown', data); }
export function handleSummary(data) { return { stdout: `iterations ${data.metrics.iterations ? data.metrics.iterations.values.count : 'none'}\n` }; }
