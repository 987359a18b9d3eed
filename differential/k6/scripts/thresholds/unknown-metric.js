// A threshold of a metric that there is not
// quick
export const options = { iterations: 1, thresholds: { not_there: ['count>0'] } };
export default function () { console.log('never'); }
