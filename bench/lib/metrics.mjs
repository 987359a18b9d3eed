// What a server tells at /metrics, in Prometheus' text format.

/**
 * `{ name: value }` of `names`, which maps ours to the server's: a metric, its labels with it. One that the server does not tell
 * is an error: a count that is always missing would read as nothing having happened.
 */
export function metricsOf(text, names) {
  const told = new Map();
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ');
    if (at > 0 && !line.startsWith('#')) told.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return Object.fromEntries(Object.entries(names).map(([name, metric]) => {
    if (!told.has(metric)) throw new Error(`the target tells no ${metric}`);
    return [name, told.get(metric)];
  }));
}
