// Frames merged into the columns that a chart can show. All charts share them, so one index of the cursor is one time.

import type { Buckets } from './buckets';
import type { Run } from './run';
import type { Sum } from './series';

/** A chart has no more columns than this: more would be narrower than a pixel. */
export const COLUMN_LIMIT = 1_200;

/** A part of the run: whole frames, in columns of equally many frames. */
export interface Columns {
  /** First frame, and the one after the last. */
  first: number;
  end: number;
  /** Seconds from the run's start. */
  from: number;
  to: number;
  /** Of each column: its first frame (one more entry than columns), its start, end and middle in seconds. */
  frames: number[];
  starts: number[];
  ends: number[];
  middles: number[];
}

/** The columns of the frames that a window touches; of the whole run without one. */
export function columnsOf(run: Run, window: readonly [number, number] | null, limit = COLUMN_LIMIT): Columns {
  const [first, end] = window ? run.framesWithin(...window) : [0, run.frames];
  const each = Math.max(1, Math.ceil((end - first) / limit));
  const columns: Columns = {
    first,
    end,
    from: end > first ? run.starts[first] : 0,
    to: end > first ? run.ends[end - 1] : 0,
    frames: [],
    starts: [],
    ends: [],
    middles: [],
  };
  for (let frame = first; frame < end; frame += each) {
    const after = Math.min(frame + each, end);
    columns.frames.push(frame);
    columns.starts.push(run.starts[frame]);
    columns.ends.push(run.ends[after - 1]);
    columns.middles.push((run.starts[frame] + run.ends[after - 1]) / 2);
  }
  columns.frames.push(end);
  mergeShortTail(columns);
  return columns;
}

/** A run ends within a second: its last moments belong to the column before, or a rate of a few bytes would tower. */
function mergeShortTail(columns: Columns): void {
  const { frames, starts, ends, middles } = columns;
  while (middles.length > 1) {
    const last = middles.length - 1;
    if (ends[last] - starts[last] >= (ends[0] - starts[0]) / 2) return;
    frames.splice(last, 1);
    ends[last - 1] = ends[last];
    middles[last - 1] = (starts[last - 1] + ends[last]) / 2;
    for (const list of [starts, ends, middles]) list.pop();
  }
}

function each<T>(columns: Columns, make: (from: number, to: number, column: number) => T): T[] {
  return columns.middles.map((_, i) => make(columns.frames[i], columns.frames[i + 1], i));
}

/** A counter a second, by column. */
export function perSecond(columns: Columns, sum: Sum): number[] {
  return each(columns, (from, to, i) => sum.added(from, to) / seconds(columns, i));
}

/** Values of a trend a second, by column. */
export function valuesPerSecond(columns: Columns, trends: readonly Buckets[]): number[] {
  return trends.map((trend, i) => trend.n / seconds(columns, i));
}

function seconds(columns: Columns, column: number): number {
  return Math.max(columns.ends[column] - columns.starts[column], 1e-3);
}

/** A gauge's last level, by column. */
export function levels(columns: Columns, sum: Sum): (number | null)[] {
  return each(columns, (from, to) => sum.level(from, to)?.[0] ?? null);
}

/** The share of a rate that passed, by column; null where there was nothing. */
export function shares(columns: Columns, sum: Sum): (number | null)[] {
  return each(columns, (from, to) => {
    const [passes, total] = sum.rated(from, to);
    return total > 0 ? passes / total : null;
  });
}

/** A trend's merged buckets, by column. */
export function trends(columns: Columns, sum: Sum): Buckets[] {
  return each(columns, (from, to) => sum.merged(from, to));
}
