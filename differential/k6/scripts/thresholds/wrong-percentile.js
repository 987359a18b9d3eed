// p(101) and p(-1)
export const options = { iterations: 1, thresholds: { iteration_duration: ['p(101)<1'] } };
export default function () { console.log('iteration'); }
