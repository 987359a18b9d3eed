// A threshold on empty braces
export const options = { iterations: 1, thresholds: { 'iterations{}': ['count>0'] } };
export default function () {}
