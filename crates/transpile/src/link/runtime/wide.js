// A module as a whole, with the names that Node did not see in its default. CommonJS that was once a module has the last
// word on its names, its default among them, except where Node's rules hold.
const __sonagi_wide = (whole) => {
  const value = whole.default;
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return whole;
  const wide = Object.create(typeof value === 'object' ? Object.getPrototypeOf(value) : null);
  const order = value.__esModule && !__sonagi_as_node ? [value, whole] : [whole, value];
  for (const from of order) {
    for (const name of Object.getOwnPropertyNames(from)) {
      if (Object.hasOwn(wide, name)) continue;
      const { enumerable } = Object.getOwnPropertyDescriptor(from, name);
      Object.defineProperty(wide, name, { enumerable, get: () => from[name] });
    }
  }
  return wide;
};
