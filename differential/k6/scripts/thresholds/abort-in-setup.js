// abortOnFail in setup: the test ends, without teardown
import { check, sleep } from 'k6';
export const options = { iterations: 1, thresholds: { checks: [{ threshold: 'rate>0.9', abortOnFail: true }], iterations: ['count>100'] } };
export function setup() { check(1, { never: () => false }); sleep(20); }
export default function () { console.log('never'); }
export function teardown() { console.log('never'); }
