// per-vu-iterations: each user has its own
// order: connections
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };
export default function () { console.log('user', exec.vu.iterationInScenario, exec.scenario.name, exec.scenario.executor); }
