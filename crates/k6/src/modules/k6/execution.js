// An object whose members live elsewhere: `names()`, `get(name)`, `set(name, value)`, and `set(name)` takes one away.
(function (names, get, set) {
  return new Proxy({}, {
    get(target, name) {
      const value = typeof name === 'string' ? get(name) : undefined;
      return value === undefined ? target[name] : value;
    },
    set(target, name, value) {
      set(String(name), value);
      return true;
    },
    has: (target, name) => typeof name === 'string' && get(name) !== undefined,
    deleteProperty(target, name) {
      set(String(name));
      return true;
    },
    ownKeys: () => names(),
    getOwnPropertyDescriptor(target, name) {
      const value = typeof name === 'string' ? get(name) : undefined;
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
})
