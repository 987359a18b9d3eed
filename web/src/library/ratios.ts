// Two runs beside one another: the ratio of each quantile of what both have timed, in the window that is looked at.

import type { Run } from '../data/run';
import { timedMetrics } from '../data/sources';

export const QUANTILES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999] as const;

/** A run and the frames of it that are looked at. */
export interface Part {
  run: Run;
  first: number;
  end: number;
}

export interface Ratio {
  /** The metric, or one of its operations. */
  name: string;
  metric: string;
  /** Quantiles of a and b, in the order of QUANTILES. */
  a: (number | null)[];
  b: (number | null)[];
  counts: [number, number];
}

/** Metrics whose series are told apart by operation. */
const BY_OPERATION = ['response_time', 'function.time'];

/** Metrics that both runs timed, and the operations that both have of them. */
export function ratios(a: Part, b: Part): Ratio[] {
  const shared = sharedMetrics(a.run, b.run);
  const rows = shared.map(metric => ratio(metric, metric, a, b, {}));
  for (const metric of BY_OPERATION) {
    const others = b.run.tagValues(metric, 'operation');
    const operations = a.run.tagValues(metric, 'operation').filter(name => others.includes(name));
    rows.push(...operations.map(operation => ratio(operation, metric, a, b, { operation })));
  }
  return rows;
}

/** Metrics of which both runs have times. */
export function sharedMetrics(a: Run, b: Run): string[] {
  const timed = (run: Run) => timedMetrics(run).filter(metric => run.sum(metric).merged(0, run.frames).n > 0);
  const others = timed(b);
  return timed(a).filter(metric => others.includes(metric));
}

function ratio(name: string, metric: string, a: Part, b: Part, tags: Record<string, string>): Ratio {
  const [left, right] = [a, b].map(({ run, first, end }) => run.sum(metric, tags).merged(first, end));
  return {
    name,
    metric,
    a: QUANTILES.map(q => left.quantile(q)),
    b: QUANTILES.map(q => right.quantile(q)),
    counts: [left.n, right.n],
  };
}

/** How many times as large b is; null where a has no value or is 0. */
export function times(a: number | null | undefined, b: number | null | undefined): number | null {
  return a === null || a === undefined || b === null || b === undefined || a === 0 ? null : b / a;
}
