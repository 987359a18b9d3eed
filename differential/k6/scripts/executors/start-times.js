// Several scenarios, one behind the other and beside each other
// order: connections
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: {
  first: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '2s', gracefulStop: '0s', exec: 'one' },
  second: { executor: 'constant-vus', vus: 1, duration: '1s', startTime: '1s', exec: 'two', gracefulStop: '1s' },
  third: { executor: 'shared-iterations', vus: 1, iterations: 1, startTime: '1500ms', exec: 'one', tags: { mine: 'third' } } } };
const told = (name) => console.log(name, exec.scenario.name, Math.round(exec.instance.currentTestRunDuration / 500) * 500);
export function one() { told('one'); sleep(0.2); }
export function two() { told('two'); sleep(0.6); }
