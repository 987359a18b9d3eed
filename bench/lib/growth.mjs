// Whether memory grows: pure, on the samples of a soak.
import { median } from './statistics.mjs';

/** Unless told otherwise the first minute is not judged: buffers find their size, and the ledger fills its window. */
export const SETTLED_S = 60;
/** What begins and ends are made of: one sample may fall into a moment of more. */
const SPAN_S = 60;

/**
 * Of `[{ at_s, mb }]`: `{ from_mb, to_mb, grown_mb, mb_per_hour }`, medians of the first and the last minute that count, and
 * the slope of the line through all that do. Undefined when too little is left to judge: two samples at least.
 */
export function growth(samples, settled_s = SETTLED_S) {
  const counted = samples.filter(({ at_s }) => at_s >= settled_s);
  if (counted.length < 2) return undefined;
  const [first, last] = [counted[0].at_s, counted.at(-1).at_s];
  const middle = (kept) => median(counted.filter(kept).map(({ mb }) => mb));
  const from_mb = middle(({ at_s }) => at_s < Math.min(first + SPAN_S, (first + last) / 2));
  const to_mb = middle(({ at_s }) => at_s > Math.max(last - SPAN_S, (first + last) / 2));
  return { from_mb, to_mb, grown_mb: to_mb - from_mb, mb_per_hour: slope(counted) * 3600 };
}

/** Least squares, MB per second. */
function slope(samples) {
  const mean = (of) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [at, mb] = [mean((one) => one.at_s), mean((one) => one.mb)];
  return mean((one) => (one.at_s - at) * (one.mb - mb)) / mean((one) => (one.at_s - at) ** 2);
}

/**
 * Whether that is growth: more than a megabyte, and more than a twentieth of what was there. Allocators breathe by as much, and what
 * loses less shows in the rate when it runs for longer.
 */
export const grew = ({ from_mb, grown_mb }) => grown_mb > Math.max(1, from_mb / 20);
