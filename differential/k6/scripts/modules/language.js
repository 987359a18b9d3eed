// The language: what newer syntax and methods a script may use
// quick
export const options = { iterations: 1 };
class Private { #x = 1; static count = 0; get x() { return this.#x; } static { Private.count = 7; } }
function* numbers() { yield 1; yield* [2, 3]; }
const tried = (name, what) => { try { console.log(name, what()); } catch (error) { console.log(name, 'throws', error.name); } };
export default async function () {
  const { a, ...rest } = { a: 1, b: 2, c: 3 };
  tried('spread', () => JSON.stringify({ ...rest, d: [...numbers()] }));
  tried('optional', () => [null?.x, undefined ?? 'or', (() => { let x = null; x ??= 3; return x; })()].join());
  tried('private', () => `${new Private().x} ${Private.count}`);
  tried('bigint', () => `${2n ** 64n}`);
  tried('separators', () => 1_000);
  tried('regexp', () => ['a1b2'.match(/(?<letter>[a-z])(?<digit>\d)/u).groups.letter, 'x'.replaceAll('x', 'y'), /(?<=a)b/.test('ab'), [...'a1b2'.matchAll(/\d/g)].length].join());
  tried('flat', () => [[1], [2, [3]]].flat(Infinity).join());
  tried('at', () => [1, 2].at(-1));
  tried('findLast', () => [1, 2, 3].findLast((x) => x < 3));
  tried('toSorted', () => [3, 1].toSorted().join());
  tried('with', () => [1, 2].with(0, 9).join());
  tried('fromEntries', () => JSON.stringify(Object.fromEntries([['a', 1]])));
  tried('padStart', () => '7'.padStart(3, '0') + 'x'.at(0) + ' y '.trimEnd());
  tried('hasOwn', () => Object.hasOwn({ a: 1 }, 'a'));
  tried('Promise.any', () => typeof Promise.any);
  tried('WeakMap', () => new WeakMap([[rest, 1]]).get(rest));
  tried('label', () => { outer: for (;;) for (;;) break outer; return 'out'; });
  tried('getter', () => ({ get x() { return 1; } }).x);
  tried('tagged', () => ((parts, ...values) => parts.raw.join('|') + values)`a${1}b`);
  tried('error cause', () => new Error('a', { cause: 'b' }).cause);
  tried('date', () => new Date(0).toISOString() + new Date('2026-01-02T03:04:05Z').getTime());
  tried('number formats', () => [(1234.5).toFixed(2), (255).toString(16), (1e21).toString(), (0.1 + 0.2).toString()].join());
  tried('JSON', () => JSON.stringify({ u: undefined, d: new Date(0), n: NaN }, null, 1));
  tried('sort is stable', () => [[1, 'a'], [0, 'b'], [1, 'c']].sort((x, y) => x[0] - y[0]).map((x) => x[1]).join(''));
}
