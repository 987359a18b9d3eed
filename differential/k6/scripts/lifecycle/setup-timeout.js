// A setup that takes longer than setupTimeout
import { sleep } from 'k6';
export const options = { iterations: 1, setupTimeout: '300ms' };
export function setup() { console.log('begins'); sleep(5); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }
