// ramping-vus: gracefulRampDown lets an iteration end, and no longer
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '200ms', target: 0 }, { duration: '2s', target: 0 }], gracefulRampDown: '500ms' } } };
export default function () { sleep(__VU === 1 ? 0.4 : 1.5); }
