// A class as Go's are in k6: called without `new`, it makes an instance all the same.
(function (made) {
  const { name, prototype } = made;
  const maker = { [name]: function () { return Reflect.construct(made, arguments, new.target ?? maker); } }[name];
  Object.defineProperty(maker, 'prototype', { value: prototype, writable: false });
  Object.defineProperty(prototype, 'constructor', { value: maker });
  return maker;
})
