// An endless loop is interrupted as well
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () {
  console.log('begins');
  try { for (;;) Math.random(); } finally { console.log('finally'); }
}
