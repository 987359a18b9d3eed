// console of nothing, of quotes within objects, of symbols, dates that are none, buffers, objects with toJSON
export const options = { iterations: 1 };
export default function () {
  console.log();
  console.log('');
  console.log(['a"b', 'c\\d', "e'f", 'ä\t'], { text: 'v"' });
  console.log(Symbol('alone'), [Symbol('among')], Symbol());
  console.log([undefined, , 1], { list: [undefined], none: undefined }, undefined);
  console.log(new Date(NaN), [new Date(0)], { date: new Date(5) });
  console.log({ a: 1, toJSON() { return { z: 1 }; } });
  console.log(new Uint8Array([1, 2]), new Float64Array([1.5]), new ArrayBuffer(3), { list: new Uint8Array(2) }, new Uint8Array(0));
  console.log(new Map([[1, { a: 1 }]]), new Set([1]), Promise.resolve(1), /re/g, new String('abc'), new Number(1), Object.assign(() => 1, { a: 1 }));
  console.log([null, NaN, Infinity, -0, 1e21, 1.5, 10n, true, () => 1], { get made() { return 1; } });
}
