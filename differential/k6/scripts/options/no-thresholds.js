// --no-thresholds
// flags: --no-thresholds
export const options = { iterations: 1, thresholds: { iterations: ['count>5'] } };
export default function () {}
