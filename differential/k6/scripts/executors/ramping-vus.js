// ramping-vus: who begins when, and who leaves
// without users vus: they change as they are counted, on the second
// order: connections
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '2s', target: 4 }, { duration: '2s', target: 0 }], gracefulRampDown: '0s' } } };
export default function () {
  if (exec.vu.iterationInScenario === 0) console.log('begins after', Math.round((Date.now() - exec.scenario.startTime) / 500) * 500, 'ms');
  for (;;) sleep(0.1);
}
