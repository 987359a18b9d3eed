// A throw in setup: no iteration, no teardown, the summary comes, exit code 107
// quick
export const options = { iterations: 1 };
export function setup() { throw new Error('in setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }
export function handleSummary(data) { console.log('summary', Object.keys(data.metrics).sort().join(' ')); return {}; }
