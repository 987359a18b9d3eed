// The plan of every executor, as it is told before the run
// without ended: how many iterations fit is a matter of milliseconds
// without summary iterations: how many iterations fit is a matter of milliseconds
// without summary dropped_iterations: how many iterations fit is a matter of milliseconds
// without points iter*: how many iterations fit is a matter of milliseconds
// without metric dropped_iterations: how many iterations fit is a matter of milliseconds
// without text: how many iterations fit is a matter of milliseconds
// order: connections
export const options = { scenarios: {
  constant: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' },
  'per-vu': { executor: 'per-vu-iterations', vus: 2, iterations: 1, exec: 'one', startTime: '1s' },
  ramping: { executor: 'ramping-vus', stages: [{ duration: '1s', target: 1 }, { duration: '500ms', target: 3 }], gracefulRampDown: '1s', gracefulStop: '2s' },
  rate: { executor: 'constant-arrival-rate', rate: 3, timeUnit: '2s', duration: '1100ms', preAllocatedVUs: 1, maxVUs: 2 },
  'rate-1': { executor: 'ramping-arrival-rate', startRate: 1, stages: [{ duration: '1s', target: 3 }], preAllocatedVUs: 3, gracefulStop: '1s' },
  shared: { executor: 'shared-iterations' } } };
import { sleep } from 'k6';
export default function () { sleep(0.3); }
export function one() {}
