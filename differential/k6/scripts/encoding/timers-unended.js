// An interval nobody clears keeps the iteration until gracefulStop
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '500ms' } } };
export default function () { setInterval(() => {}, 50); console.log('returned'); }
