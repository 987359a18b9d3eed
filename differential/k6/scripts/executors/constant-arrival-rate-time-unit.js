// constant-arrival-rate: rate in another timeUnit
// order: connections
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 60, timeUnit: '1m', duration: '1900ms', preAllocatedVUs: 1 } } };
export default function () { console.log('after', Math.round((Date.now() - exec.scenario.startTime) / 500) * 500, 'ms'); }
