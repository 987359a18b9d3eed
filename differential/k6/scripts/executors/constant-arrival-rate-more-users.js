// constant-arrival-rate: users up to maxVUs are made when they are needed
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 2, duration: '1900ms', preAllocatedVUs: 1, maxVUs: 4, gracefulStop: '5s' } } };
export default function () { sleep(2.3); }
