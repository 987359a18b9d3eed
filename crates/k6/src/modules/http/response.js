// Gives an object the members of a prototype that can be listed, as they are there: getters that keep what they make.
(function (prototype) {
  const all = Object.getOwnPropertyDescriptors(prototype);
  for (const name of Object.keys(all)) if (!all[name].enumerable) delete all[name];
  return (response) => void Object.defineProperties(response, all);
})
