// An array of `length` elements that `element(at)` gives and nobody can write to.
(function (length, element) {
  const refuse = () => {
    throw new TypeError('SharedArray is immutable');
  };
  const place = (name) => {
    if (typeof name !== 'string') return -1;
    const at = Number(name);
    return at >= 0 && at < length && String(at) === name ? at : -1;
  };
  return new Proxy([], {
    get(target, name) {
      if (name === 'length') return length;
      const at = place(name);
      return at < 0 ? target[name] : element(at);
    },
    has: (target, name) => place(name) >= 0 || name in target,
    ownKeys: () => [...Array.from({ length }, (_, at) => String(at)), 'length'],
    getOwnPropertyDescriptor(target, name) {
      if (name === 'length') return { value: length, writable: true, enumerable: false, configurable: false };
      const at = place(name);
      return at < 0 ? undefined : { value: element(at), writable: true, enumerable: true, configurable: true };
    },
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
  });
})
