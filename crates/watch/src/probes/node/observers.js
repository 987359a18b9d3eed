// What the probe leaves in a Node process while it looks: measures of its event loop and garbage collection, under a
// symbol, so that no name of the service is touched. Called with whether it was we who opened the inspector. It goes
// away by itself when nobody has read it for a minute: whoever looked may have been killed.
(isOurs => {
  const key = Symbol.for('sonagi.watch');
  const load = process.getBuiltinModule ?? require;
  const { monitorEventLoopDelay, PerformanceObserver, performance } = load('perf_hooks');
  const { getHeapStatistics } = load('v8');
  const inspector = load('inspector');
  // Whoever looked before, and was killed, may have opened it.
  const isToClose = globalThis[key]?.end(true) || isOurs;

  const delay = monitorEventLoopDelay({ resolution: 10 });
  let garbage = 0;
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) garbage += entry.duration;
  });
  let last = { at: performance.now(), loop: performance.eventLoopUtilization(), garbage };

  const read = () => {
    const now = { at: performance.now(), loop: performance.eventLoopUtilization(), garbage };
    const passed = now.at - last.at;
    const { used_heap_size: heap, heap_size_limit: limit } = getHeapStatistics();
    // Of fewer than a hundred turns the 99th percentile, by nearest rank, is the greatest. Node takes the one below.
    const late = delay.count < 100 ? delay.max : delay.percentile(99);
    const seen = {
      utilisation: performance.eventLoopUtilization(now.loop, last.loop).utilization,
      // No turn since the last look: the loop is late by all of that time at least.
      delay: delay.count === 0 ? passed : late / 1e6,
      garbage: Math.min((now.garbage - last.garbage) / passed, 1),
      heap,
      limit,
    };
    delay.reset();
    last = now;
    return seen;
  };
  const end = isReplaced => {
    delay.disable();
    observer.disconnect();
    clearInterval(timer);
    delete globalThis[key];
    if (isToClose && !isReplaced) setImmediate(() => inspector.close());
    return isToClose;
  };
  const timer = setInterval(() => performance.now() - last.at > 60_000 && end(false), 10_000);
  timer.unref();
  delay.enable();
  observer.observe({ entryTypes: ['gc'] });
  Object.defineProperty(globalThis, key, { value: { read, end }, configurable: true });
})
