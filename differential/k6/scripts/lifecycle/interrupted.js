// An iteration past gracefulStop is interrupted: no catch and no finally run, and it does not count
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const counted = new Counter('counted');
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '500ms' } } };
export default function () {
  counted.add(1);
  try { for (;;) sleep(0.02); } catch (error) { counted.add(100); } finally { counted.add(1000); }
  counted.add(10000);
}
export function teardown() { console.log('teardown'); }
