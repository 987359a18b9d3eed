// The duration of a test whose setup throws, and its users
// leaves: state.json
import { sleep } from 'k6';
export const options = { vus: 2, iterations: 2 };
export function setup() { sleep(1.5); throw new Error('setup'); }
export default function () {}
export function handleSummary({ state, metrics }) { console.log(JSON.stringify([metrics.vus?.values, metrics.vus_max?.values])); return { 'state.json': JSON.stringify(state) }; }
