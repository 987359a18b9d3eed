// A teardown that takes longer than teardownTimeout
import { sleep } from 'k6';
export const options = { iterations: 1, teardownTimeout: 300 };
export default function () { console.log('iteration'); }
export function teardown() { console.log('begins'); sleep(5); }
