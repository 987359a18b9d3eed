// ramping-arrival-rate: an iteration whenever one more has become due
// order: connections
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s', stages: [{ duration: '2s', target: 4 }, { duration: '900ms', target: 0 }], preAllocatedVUs: 3 } } };
export default function () { console.log(exec.scenario.iterationInTest, 'after', Math.round((Date.now() - exec.scenario.startTime) / 250) * 250, 'ms'); }
