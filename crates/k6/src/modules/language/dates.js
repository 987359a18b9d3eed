// Dates as texts: with the name of the zone, which `zone(ms)` tells, and by a clock of 24 hours.
(function (zone) {
  const { getTime, toDateString, toLocaleDateString, toTimeString } = Date.prototype;
  const told = (date, tell) => {
    const at = getTime.call(date);
    return Number.isNaN(at) ? 'Invalid Date' : tell(at);
  };
  const time = (date, at) => `${toTimeString.call(date)} (${zone(at)})`;
  const own = {
    toString() {
      return told(this, (at) => `${toDateString.call(this)} ${time(this, at)}`);
    },
    toTimeString() {
      return told(this, (at) => time(this, at));
    },
    toLocaleString() {
      return told(this, () => `${toLocaleDateString.call(this)}, ${toTimeString.call(this).slice(0, 8)}`);
    },
    toLocaleTimeString() {
      return told(this, () => toTimeString.call(this).slice(0, 8));
    },
  };
  for (const name of ['toString', 'toTimeString', 'toLocaleString', 'toLocaleTimeString'])
    Object.defineProperty(Date.prototype, name, { value: own[name], writable: true, configurable: true });
})
