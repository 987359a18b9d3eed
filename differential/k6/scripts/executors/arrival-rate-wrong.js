// What arrival rates refuse
export const options = { scenarios: {
  a: { executor: 'constant-arrival-rate', duration: '1s', rate: 0, preAllocatedVUs: 1 },
  b: { executor: 'constant-arrival-rate', duration: '1s', rate: 1 },
  c: { executor: 'constant-arrival-rate', duration: '1s', rate: 1, preAllocatedVUs: 3, maxVUs: 2 },
  d: { executor: 'ramping-arrival-rate', preAllocatedVUs: 1, stages: [{ duration: '1s', target: -1 }] },
  e: { executor: 'ramping-arrival-rate', preAllocatedVUs: 1, stages: [{ target: 1 }] } } };
export default function () { console.log('never'); }
