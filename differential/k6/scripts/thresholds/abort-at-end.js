// abortOnFail of a test that is over before it is looked at
export const options = { iterations: 1, thresholds: { iterations: [{ threshold: 'count<1', abortOnFail: true }] } };
export default function () { console.log('iteration'); }
