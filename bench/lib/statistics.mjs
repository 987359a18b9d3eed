// Medians and ranges. Five runs carry no distribution, so none is pretended; pairs by the dozen do (pairs.mjs).

/** The middle value; of an even number the mean of the two in the middle; undefined of none. */
export function median(values) {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `{ median, min, max, count }` of the values that are numbers; undefined when none is. */
export function summary(values) {
  const numbers = values.filter(Number.isFinite);
  if (numbers.length === 0) return undefined;
  return { median: median(numbers), min: Math.min(...numbers), max: Math.max(...numbers), count: numbers.length };
}

/** The summaries of one contestant's runs, by measure: `{ cpu_us: { median, … }, … }`. Failed runs have no measures. */
export function summaries(runs) {
  const kept = runs.filter((run) => run.measures);
  const names = new Set(kept.flatMap((run) => Object.keys(run.measures)));
  return Object.fromEntries([...names].map((name) => [name, summary(kept.map((run) => run.measures[name]))]).filter(([, found]) => found));
}
