// `localeCompare` by the order of dictionaries, which `compare` knows of texts whose accents stand apart.
(function (compare) {
  const { localeCompare: byCode, normalize } = String.prototype;
  const { localeCompare } = {
    localeCompare(that) {
      try {
        return compare(normalize.call(this, 'NFD'), normalize.call(that, 'NFD'));
      } catch {
        // Halves of letters that no text has.
        return byCode.call(this, that);
      }
    },
  };
  Object.defineProperty(String.prototype, 'localeCompare', { value: localeCompare, writable: true, configurable: true });
})
