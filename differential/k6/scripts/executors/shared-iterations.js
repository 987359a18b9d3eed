// shared-iterations: users share them, an idle one takes the next
// order: connections
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 3, iterations: 7, maxDuration: '10s' } } };
export default function () { if (__VU === 1) sleep(1.5); else sleep(0.1); console.log('in test', exec.scenario.iterationInTest); }
