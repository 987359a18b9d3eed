// per-vu-iterations that maxDuration cuts off are dropped
// quick
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 5, maxDuration: '1s', gracefulStop: '2s' } } };
export default function () { sleep(0.7); }
