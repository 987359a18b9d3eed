// Module state, globals and __ITER live as long as the user, in later scenarios too
// quick
import exec from 'k6/execution';
let count = 0;
export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 1, iterations: 2, maxDuration: '1s', gracefulStop: '0s', exec: 'one' },
    second: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'two', startTime: '1100ms' },
  },
};
const tell = (name) => {
  count += 1;
  globalThis.seen = (globalThis.seen || '') + name;
  console.log(name, 'count', count, 'seen', globalThis.seen, '__VU', __VU, '__ITER', __ITER, 'in scenario', exec.vu.iterationInScenario, exec.scenario.iterationInTest, exec.scenario.iterationInInstance, 'in instance', exec.vu.iterationInInstance, 'vu', exec.vu.idInTest, exec.vu.idInInstance);
};
export function one() { tell('one'); }
export function two() { tell('two'); }
