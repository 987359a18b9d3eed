// shared-iterations cut short by maxDuration and gracefulStop
// without ended: the last bar counts one or another of the interrupted iterations
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 2, iterations: 20, maxDuration: '1s', gracefulStop: '300ms' } } };
export default function () { sleep(0.7); }
