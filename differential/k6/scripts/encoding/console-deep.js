// console of functions, cycles, deep objects, typed arrays, strings within objects
export const options = { iterations: 1 };
export default function () {
  const cycle = { name: 'c' }; cycle.self = cycle;
  console.log(cycle);
  console.log({ a: { b: { c: { d: { e: 1 } } } } });
  console.log({ text: 'in an object', list: ['a', 'b'] });
  console.log(new Uint8Array([1, 2, 3]));
  console.log(class A {}.name, { method() {} });
}
