// One series of a run: its values by frame, sparse, in the order of frames.

import { Buckets } from './buckets';
import type { GaugeValue, Kind, Name, RateValue, TrendValue, Value } from './contract';

export class Series {
  readonly metric: string;
  readonly kind: Kind;
  readonly unit: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly about: Name['about'];
  private readonly frames: number[] = [];
  private readonly values: Value[] = [];

  constructor(name: Name) {
    this.metric = name.metric;
    this.kind = name.kind;
    this.unit = name.unit;
    this.tags = name.tags ?? {};
    this.about = name.about;
  }

  push(frame: number, value: Value): void {
    this.frames.push(frame);
    this.values.push(value);
  }

  /** The first place in `frames` whose frame is at or after this one. */
  private place(frame: number): number {
    let low = 0;
    let high = this.frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.frames[middle] < frame) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private *within(from: number, to: number): Generator<Value> {
    for (let i = this.place(from); i < this.frames.length && this.frames[i] < to; i += 1) yield this.values[i];
  }

  /** Of a counter: what frames from..to (exclusive) added. */
  added(from: number, to: number): number {
    let sum = 0;
    for (const value of this.within(from, to)) sum += value as number;
    return sum;
  }

  /** Of a rate: passes and total of these frames. */
  rated(from: number, to: number): RateValue {
    let [passes, total] = [0, 0];
    for (const value of this.within(from, to)) {
      passes += (value as RateValue)[0];
      total += (value as RateValue)[1];
    }
    return [passes, total];
  }

  /** Of a gauge: its last value in these frames, else the one it had before; null before its first. */
  level(from: number, to: number): GaugeValue | null {
    let level: GaugeValue | null = null;
    for (const value of this.within(from, to)) {
      const [last, min, max] = value as GaugeValue;
      level = level ? [last, Math.min(level[1], min), Math.max(level[2], max)] : [last, min, max];
    }
    if (level) return level;
    const before = this.place(from) - 1;
    if (before < 0) return null;
    const [last] = this.values[before] as GaugeValue;
    return [last, last, last];
  }

  /** Of a trend: merges these frames into `buckets`. */
  mergeInto(buckets: Buckets, from: number, to: number): void {
    for (const value of this.within(from, to)) buckets.add(value as TrendValue);
  }
}

/** Series of one kind and unit, added up. */
export class Sum {
  constructor(
    readonly series: readonly Series[],
    private readonly scale: number,
  ) {}

  get empty(): boolean {
    return this.series.length === 0;
  }

  added(from: number, to: number): number {
    return this.series.reduce((sum, series) => sum + series.added(from, to), 0);
  }

  rated(from: number, to: number): RateValue {
    const all = this.series.map(series => series.rated(from, to));
    return [all.reduce((sum, [passes]) => sum + passes, 0), all.reduce((sum, [, total]) => sum + total, 0)];
  }

  /** The sum of the levels, where any is known. */
  level(from: number, to: number): GaugeValue | null {
    const known = this.series.map(series => series.level(from, to)).filter(level => level !== null);
    if (known.length === 0) return null;
    return known.reduce((sum, level) => [sum[0] + level[0], sum[1] + level[1], sum[2] + level[2]]);
  }

  merged(from: number, to: number): Buckets {
    const buckets = new Buckets(this.scale);
    for (const series of this.series) series.mergeInto(buckets, from, to);
    return buckets;
  }
}
