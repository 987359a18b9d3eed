// delayAbortEval: not before that
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '3s', gracefulStop: '1s' } }, thresholds: { iterations: [{ threshold: 'count<1', abortOnFail: true, delayAbortEval: '30s' }] } };
export default function () { sleep(1); }
