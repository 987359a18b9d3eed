// The default of what `require` gave: of a module its default, of CommonJS all of it.
const __sonagi_is_module = (given) => given?.[Symbol.toStringTag] === 'Module';
const __sonagi_default_of = (given) => (given?.__esModule || __sonagi_is_module(given) ? given.default : given);
// The same where Node's rules hold.
const __sonagi_own_default_of = (given) => (__sonagi_is_module(given) ? given.default : given);
// `import * as` of it.
const __sonagi_whole = (given) => {
  if (given === null || (typeof given !== 'object' && typeof given !== 'function')) return { default: given };
  if (given.__esModule || __sonagi_is_module(given)) return given;
  const whole = Object.create(Object.getPrototypeOf(given));
  for (const name of Object.getOwnPropertyNames(given)) {
    const { enumerable } = Object.getOwnPropertyDescriptor(given, name);
    Object.defineProperty(whole, name, { enumerable, configurable: true, get: () => given[name] });
  }
  return Object.defineProperty(whole, 'default', { enumerable: true, configurable: true, get: () => given });
};
