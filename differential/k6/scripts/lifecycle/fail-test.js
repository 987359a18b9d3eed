// exec.test.fail(): the run goes on and ends with 110
import exec from 'k6/execution';
export const options = { iterations: 2 };
export default function () { exec.test.fail(`of iteration ${__ITER}`); console.log('goes on', __ITER); }
export function teardown() { console.log('teardown'); }
