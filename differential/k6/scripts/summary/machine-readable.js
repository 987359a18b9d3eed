// --new-machine-readable-summary
// flags: --new-machine-readable-summary
import { check, group } from 'k6';
export const options = { iterations: 1, thresholds: { iterations: ['count>0'] } };
export default function () { group('a', () => check(1, { yes: true })); }
export function handleSummary(data) { console.log(Object.keys(data).sort().join(' '), JSON.stringify(data.checks), Object.keys(data.config ?? {}).sort().join(), Object.keys(data.metrics?.[0] ?? {}).sort().join()); return {}; }
