// Numbers that are unique over users and scenarios
// order: connections
import exec from 'k6/execution';
export const options = { scenarios: { one: { executor: 'shared-iterations', vus: 2, iterations: 6 }, two: { executor: 'per-vu-iterations', vus: 1, iterations: 2 } } };
const seen = [];
export default function () { console.log(exec.scenario.name, exec.scenario.iterationInTest); }
