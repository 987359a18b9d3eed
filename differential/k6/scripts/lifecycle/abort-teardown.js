// exec.test.abort() in teardown
import exec from 'k6/execution';
export const options = { iterations: 1 };
export default function () { console.log('iteration'); }
export function teardown() { exec.test.abort('late'); }
