// A sleep past gracefulStop is cut short; whether a line behind it still runs, k6 leaves to chance
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () { console.log('begins'); sleep(10); }
export function teardown() { console.log('teardown'); }
