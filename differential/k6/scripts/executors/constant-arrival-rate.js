// constant-arrival-rate: the first at once, then evenly
// quick
// order: connections
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 4, timeUnit: '1s', duration: '1900ms', preAllocatedVUs: 3 } } };
export default function () { console.log(exec.scenario.iterationInTest, 'after', Math.round((Date.now() - exec.scenario.startTime) / 250) * 250, 'ms'); }
