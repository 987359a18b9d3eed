// A threshold as a text instead of a list
export const options = { iterations: 1, thresholds: { iterations: 'count>0' } };
export default function () { console.log('iteration'); }
