// constant-vus: as many iterations as fit, the last within gracefulStop
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '2s' } } };
export default function () { sleep(0.4); }
