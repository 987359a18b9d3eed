// exec.test.abort() in setup
import exec from 'k6/execution';
export const options = { iterations: 1 };
export function setup() { exec.test.abort(); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }
export function handleSummary() { console.log('summary'); return {}; }
