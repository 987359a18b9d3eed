// Durations in all their forms, as the plan tells them
export const options = { scenarios: {
  a: { executor: 'shared-iterations', maxDuration: '1d2h3m4s5ms', gracefulStop: 1500 },
  b: { executor: 'shared-iterations', maxDuration: '90m', gracefulStop: '0.5s' },
  c: { executor: 'shared-iterations', maxDuration: 60000.5, gracefulStop: '1m30s' },
  d: { executor: 'shared-iterations', maxDuration: '2000', gracefulStop: '0' } } };
export default function () { console.log('iteration'); }
