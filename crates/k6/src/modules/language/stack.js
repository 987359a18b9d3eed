// `stack` of errors: what the error is as text when somebody first asks, then a line for each caller. `placed(file, line, column)`
// tells a place.
(function (placed) {
  const text = Error.prototype.toString;
  const called = (site) => {
    const at = site.isNative() ? 'native' : placed(site.getFileName() ?? '', site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0);
    const name = site.getFunctionName();
    const isNamed = name && name[0] !== '<';
    return at.startsWith('sonagi:require') ? '' : `\tat ${isNamed ? `${name} (${at})` : at}\n`;
  };
  Error.prepareStackTrace = (error, sites) => {
    const callers = sites.map(called).join('');
    const keep = (value) => Object.defineProperty(error, 'stack', { value, writable: true, configurable: true }).stack;
    const get = () => keep(`${text.call(error)}\n${callers}`);
    Object.defineProperty(error, 'stack', { get, set: keep, configurable: true });
    return callers;
  };
  // k6 knows no such member, and it stays what it was set to.
  delete Error.prepareStackTrace;
})
