// Scenarios that could overlap have users of their own: maxDuration counts, not when they end
import exec from 'k6/execution';
let count = 0;
export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'one' },
    second: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'two', startTime: '500ms' },
  },
};
const tell = (name) => {
  count += 1;
  globalThis.seen = (globalThis.seen || '') + name;
  console.log(name, 'count', count, 'seen', globalThis.seen, '__ITER', __ITER, 'in scenario', exec.vu.iterationInScenario, exec.scenario.iterationInTest, exec.scenario.iterationInInstance, 'in instance', exec.vu.iterationInInstance);
};
export function one() { tell('one'); }
export function two() { tell('two'); }
