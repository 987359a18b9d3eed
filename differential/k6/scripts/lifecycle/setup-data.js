// What becomes of undefined, dates, functions, NaN and class instances between setup and the users
export const options = { iterations: 1 };
class Point { constructor() { this.x = 1; } get y() { return 2; } }
export function setup() {
  return { gone: undefined, date: new Date(0), holes: [1, , 3], instance: new Point(), map: new Map([['a', 1]]), set: new Set([1]), big: 12345678901234, fraction: 0.1 + 0.2, exponent: 1e21, text: 'naïve <b> & "c"', nested: { a: { b: { c: [] } } }, bytes: new Uint8Array([1, 2]) };
}
export default function (data) {
  for (const name of Object.keys(data).sort()) console.log(name, typeof data[name], JSON.stringify(data[name]));
}
