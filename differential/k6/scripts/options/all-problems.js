// All that is wrong with scenarios is told at once
export const options = { scenarios: { a: { executor: 'constant-vus', vus: -1, duration: '1s' }, b: { executor: 'ramping-arrival-rate', stages: [] }, 'c d': { executor: 'shared-iterations', iterations: 0 }, e: { executor: 'shared-iterations', startTime: '-1s', gracefulStop: '-1s', exec: '' } } };
export default function () { console.log('never'); }
