// Functions as texts
function named(a, b) { return a + b; /* kept */ }
const arrow = async (x) => x ** 2;
class Kind { constructor(x) { this.x = x; } method(a) { return a; } static of() { return 1; } get g() { return 1; } }
class Bare { field = 1; }
export const options = { iterations: 1 };
export default function () {
  const own = { short(a) { return a; }, long: function () { return 2; } };
  const getter = Object.getOwnPropertyDescriptor(Kind.prototype, 'g').get;
  for (const one of [named, arrow, Kind, Bare, new Kind().method, Kind.of, getter, own.short, own.long, function* generator() { yield 1; }, eval('(function made( ) { })')]) console.log(one.toString());
  console.log(String(named) === `${named}`, named.toString().startsWith('function'), new Function('a', 'return a').toString().includes('return a'), Math.max.toString().includes('[native code]'));
}
