// Users share nothing; each runs the init code for itself
// order: connections
let count = 0;
export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };
export default function () { count += 1; console.log(`user ${__VU} iteration ${__ITER} count ${count}`); }
