// Thresholds as objects beside texts
export const options = { iterations: 1, thresholds: { iterations: [{ threshold: 'count>1', abortOnFail: false }, 'count>0', { threshold: 'count==1', delayAbortEval: '1s' }] } };
export default function () {}
