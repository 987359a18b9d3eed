// console: levels, objects, lists, errors, several values, formats
// quick
export const options = { iterations: 1 };
export default function () {
  console.log('log'); console.info('info'); console.warn('warn'); console.error('error'); console.debug('debug');
  console.log();
  console.log('a', 1, true, null, undefined, 1.5, -0, NaN, Infinity, 10n);
  console.log({ a: 1, b: { c: [1, { d: 2 }] } }, [1, 'two', [3]], []);
  console.log('%s and %d', 'text', 7);
  console.log(new Error('an error').message, String(new TypeError('typed')));
  console.log('two\nlines', 'tab\there', '"quoted" \\ back', 'naïve 🌧');
  console.log(new Map([[1, 2]]), new Set([1]), new Date(0), /re/g, Symbol('s').toString());
  console.log({ undef: undefined, nul: null, date: new Date(0), f: 1.50 });
  console.log(Object.keys(console).sort().join());
}
