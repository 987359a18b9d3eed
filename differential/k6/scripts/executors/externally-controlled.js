// externally-controlled
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'externally-controlled', vus: 1, maxVUs: 2, duration: '1s' } } };
export default function () { sleep(0.4); }
