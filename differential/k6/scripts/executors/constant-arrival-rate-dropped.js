// constant-arrival-rate without a free user: iterations are dropped, with one warning
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 5, duration: '1900ms', preAllocatedVUs: 1, gracefulStop: '5s' } } };
export default function () { sleep(3); }
