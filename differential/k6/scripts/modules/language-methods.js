// Methods that the engine of k6 does not have
export const options = { iterations: 1 };
const tried = (name, what) => { try { console.log(name, what()); } catch (error) { console.log(name, 'throws', error.name); } };
export default function () {
  tried('groupBy', () => JSON.stringify(Object.groupBy([1, 2, 3], (x) => (x % 2 ? 'odd' : 'even'))));
  tried('Set union', () => [...new Set([1]).union(new Set([2]))].join());
  tried('structuredClone', () => JSON.stringify(structuredClone({ a: [1] })));
  tried('Array.fromAsync', () => typeof Array.fromAsync);
  tried('Promise.withResolvers', () => typeof Promise.withResolvers);
}
