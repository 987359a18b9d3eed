// A threshold with a method that the metric does not have
export const options = { iterations: 1, thresholds: { iterations: ['p(95)<1'] } };
export default function () { console.log('never'); }
