// exec.instance cannot be asked in teardown
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(5); }
export function teardown() { console.log(exec.instance.iterationsCompleted, exec.instance.iterationsInterrupted); }
