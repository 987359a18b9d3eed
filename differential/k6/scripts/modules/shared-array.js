// SharedArray: made once for all users, read only, each element a copy
// order: connections
import { SharedArray } from 'k6/data';
let made = 0;
const array = new SharedArray('users', () => { made += 1; console.log('made'); return [{ name: 'a', list: [1] }, 'text', 7, null, new Date(0)]; });
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
export default function () {
  console.log(array.length, JSON.stringify(array[0]), array[1], array[2], array[3], array[4], array[9], made, Array.isArray(array), typeof array);
  for (const [name, what] of [['write', () => { array[0] = 1; }], ['write within', () => { array[0].name = 'b'; return array[0].name; }], ['push', () => array.push(1)], ['length', () => { array.length = 0; return array.length; }]]) { try { console.log(name, what()); } catch (error) { console.log(name, 'throws', error.name); } }
  console.log([...array].length, array.map((x) => typeof x).join(), array.filter(Boolean).length, array.find((x) => x === 7), Object.isFrozen(array[0]));
  let seen = 0; for (const one of array) seen += 1; array.forEach(() => { seen += 1; }); console.log(seen);
}
