// Functions as texts: users run code without its source, which `textOf(file, line, column)` has.
(function (textOf) {
  const { toString: native } = Function.prototype;
  const { toString } = {
    toString() {
      const text = native.call(this);
      const file = text.endsWith('[native code]\n}') ? this.fileName : undefined;
      return typeof file === 'string' ? (textOf(file, this.lineNumber, this.columnNumber) ?? text) : text;
    },
  };
  Object.defineProperty(Function.prototype, 'toString', { value: toString, writable: true, configurable: true });
})
