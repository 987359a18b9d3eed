// Live exports, there before the first import is under way, so that cycles find them.
const __sonagi_exports = (to, getters) => {
  Object.defineProperty(to, '__esModule', { value: true });
  for (const name of Object.keys(getters)) Object.defineProperty(to, name, { enumerable: true, get: getters[name] });
};
// `export *`: what is not there already, never a default.
const __sonagi_star = (to, from) => {
  for (const name of Object.keys(from)) {
    if (name === 'default' || Object.hasOwn(to, name)) continue;
    Object.defineProperty(to, name, { enumerable: true, get: () => from[name] });
  }
};
