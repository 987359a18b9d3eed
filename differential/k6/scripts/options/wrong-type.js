// A number where a list is wanted
export const options = { iterations: 1, thresholds: 7 };
export default function () { console.log('never'); }
