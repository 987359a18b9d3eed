// A signal while teardown runs: teardown comes to its end
// signal: SIGINT 2000
import { sleep } from 'k6';
export const options = { iterations: 1 };
export default function () {}
export function teardown() { sleep(4); console.log('teardown'); }
