// constant-vus: iterations past gracefulStop are interrupted
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '200ms' } } };
export default function () { sleep(0.8); }
