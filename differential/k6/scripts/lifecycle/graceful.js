// An iteration that ends within gracefulStop is complete
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '5s' } } };
export default function () { sleep(1.3); console.log('whole', __ITER); }
