// A threshold on dropped_iterations, abandoned at once
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 2, duration: '1s', preAllocatedVUs: 1 } }, thresholds: { dropped_iterations: ['count==1'] } };
export default function () { sleep(1.2); }
