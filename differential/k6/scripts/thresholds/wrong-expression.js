// Threshold expressions that cannot be read
export const options = { iterations: 1, thresholds: { iterations: ['count more than 1'] } };
export default function () { console.log('never'); }
