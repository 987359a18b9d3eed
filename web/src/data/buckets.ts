// Sparse buckets of a trend: exact merging, and quantiles by the rule that the binary has as well. Percentiles are
// never averaged: what covers several seconds or series is merged first.

import type { TrendValue } from './contract';

/** The key of bucket 0 of positive values; zero has key 0, a negative value the negated key of its magnitude. */
export const OFFSET = 1 << 20;

/** The key of a value's bucket, with 2^scale buckets per doubling. */
export function keyOf(value: number, scale: number): number {
  if (value === 0) return 0;
  const key = OFFSET + Math.ceil(Math.log2(Math.abs(value)) * 2 ** scale);
  return value > 0 ? key : -key;
}

/** The value that stands for a bucket: the geometric middle of its bounds. */
export function middleOf(key: number, scale: number): number {
  if (key === 0) return 0;
  const middle = 2 ** ((Math.abs(key) - OFFSET - 0.5) / 2 ** scale);
  return key > 0 ? middle : -middle;
}

/** Merged trends of any number of frames and series. */
export class Buckets {
  n = 0;
  sum = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  private readonly counts = new Map<number, number>();
  private sorted: [number, number][] | null = null;

  constructor(readonly scale: number) {}

  add(trend: TrendValue): void {
    if (trend.n === 0) return;
    this.n += trend.n;
    this.sum += trend.sum;
    if (trend.min < this.min) this.min = trend.min;
    if (trend.max > this.max) this.max = trend.max;
    const { b } = trend;
    let key = 0;
    for (let i = 0; i + 1 < b.length; i += 2) {
      key += b[i];
      this.counts.set(key, (this.counts.get(key) ?? 0) + b[i + 1]);
    }
    this.sorted = null;
  }

  /** Keys with their counts, keys ascending. */
  entries(): [number, number][] {
    this.sorted ??= [...this.counts].sort((a, b) => a[0] - b[0]);
    return this.sorted;
  }

  /** The mean of all values, exact; null of none. */
  mean(): number | null {
    return this.n > 0 ? this.sum / this.n : null;
  }

  /** The value below or at which a share q of the values lies, within half a bucket; null of none. */
  quantile(q: number): number | null {
    if (this.n === 0) return null;
    const rank = Math.max(1, Math.ceil(q * this.n));
    let cumulated = 0;
    for (const [key, count] of this.entries()) {
      cumulated += count;
      if (cumulated >= rank) return this.clamp(middleOf(key, this.scale));
    }
    return this.max;
  }

  /** Points of the percentile spectrum: each bucket's value with the share of values up to it. */
  spectrum(): { share: number; value: number }[] {
    let cumulated = 0;
    return this.entries().map(([key, count]) => {
      cumulated += count;
      return { share: cumulated / this.n, value: this.clamp(middleOf(key, this.scale)) };
    });
  }

  private clamp(value: number): number {
    return Math.min(this.max, Math.max(this.min, value));
  }
}
