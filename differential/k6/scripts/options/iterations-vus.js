// vus and iterations
// order: connections
import { sleep } from 'k6';
export const options = { vus: 2, iterations: 4 };
export default function () { sleep(0.2); console.log('iteration', __VU); }
