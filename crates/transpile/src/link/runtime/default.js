// The default of a module. CommonJS that was once a module says so, and has its default under that name; Node's rules do
// not look at that.
const __sonagi_default = (whole, from) => {
  if (!('default' in whole)) throw new SyntaxError(`${from} has no default export`);
  const value = whole.default;
  return !__sonagi_as_node && value?.__esModule && 'default' in value ? value.default : value;
};
