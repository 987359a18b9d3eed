// Init code once for the options and once for each user, setup, iterations, teardown; what setup returns
import exec from 'k6/execution';
console.log('init', __VU, typeof __ITER, typeof exec);
export const options = { vus: 1, iterations: 2 };
export function setup() {
  console.log('setup', __VU, typeof __ITER);
  return { text: 'a', number: 1.5, list: [1, { b: 2 }], none: null };
}
export default function (data) {
  console.log('iteration', __VU, __ITER, data.text, data.number, data.list.length, data.list[1].b, data.none);
  data.text = 'changed';
}
export function teardown(data) {
  console.log('teardown', __VU, typeof __ITER, data.text, data.list[1].b);
}
export function handleSummary() { return {}; }
