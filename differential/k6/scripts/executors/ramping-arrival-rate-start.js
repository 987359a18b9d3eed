// ramping-arrival-rate with a startRate and a jump
// order: connections
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'ramping-arrival-rate', startRate: 2, stages: [{ duration: '1s', target: 2 }, { duration: '0s', target: 4 }, { duration: '900ms', target: 4 }], preAllocatedVUs: 3 } } };
export default function () { console.log(exec.scenario.iterationInTest, 'after', Math.round((Date.now() - exec.scenario.startTime) / 125) * 125, 'ms'); }
