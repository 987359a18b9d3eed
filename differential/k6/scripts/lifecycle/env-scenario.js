// env of a scenario is seen in its iterations and not in init code
console.log('init', typeof __ENV.MINE);
export const options = { scenarios: { a: { executor: 'shared-iterations', env: { MINE: 'a', GIVEN: 'scenario' } }, b: { executor: 'shared-iterations', startTime: '400ms' } } };
export default function () { console.log('iteration', __ENV.MINE, __ENV.GIVEN); }
export function handleSummary() { return {}; }
