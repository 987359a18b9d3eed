// ramping-vus: startVUs are there at once, a stage of no length jumps
// order: connections
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '1s', target: 2 }, { duration: '0s', target: 5 }, { duration: '1s', target: 5 }], gracefulStop: '3s' } } };
export default function () { console.log('begins after', Math.round((Date.now() - exec.scenario.startTime) / 500) * 500, 'ms'); sleep(2.2); }
