// The duration of a test that stops gracefully, and its users until then
// leaves: state.json
import { sleep } from 'k6';
export const options = { scenarios: { two: { executor: 'constant-vus', vus: 2, duration: '500ms', gracefulStop: '5s' } } };
export default function () { sleep(2.5); }
export function handleSummary({ state, metrics }) { console.log(JSON.stringify([metrics.vus.values, metrics.vus_max.values])); return { 'state.json': JSON.stringify(state) }; }
