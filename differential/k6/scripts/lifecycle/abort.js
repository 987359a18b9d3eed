// exec.test.abort(): nothing after it, not even finally; teardown and the summary come; exit code 108
// quick
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 1, iterations: 5 } } };
export default function () {
  console.log('iteration', __ITER);
  if (__ITER === 1) try { exec.test.abort('enough'); } catch (error) { console.log('caught'); } finally { console.log('finally'); }
}
export function teardown() { console.log('teardown'); }
