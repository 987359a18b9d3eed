// A test whose iterations never ended
import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(5); }
export function handleSummary(data) { console.log('iterations' in data.metrics, 'iteration_duration' in data.metrics, Object.keys(data.state).sort().join()); return { stdout: '' }; }
