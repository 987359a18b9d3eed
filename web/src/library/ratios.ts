// Two runs beside one another: the ratio of each quantile of what both have timed.

import type { Run } from '../data/run';
import { timedMetrics } from '../data/sources';

export const QUANTILES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999] as const;

export interface Ratio {
  /** The metric, or one of its operations. */
  name: string;
  metric: string;
  /** Quantiles of a and b, in the order of QUANTILES. */
  a: (number | null)[];
  b: (number | null)[];
  counts: [number, number];
}

/** Metrics that both runs timed, and the operations that both have of the response time. */
export function ratios(a: Run, b: Run): Ratio[] {
  const shared = timedMetrics(a).filter(metric => timedMetrics(b).includes(metric));
  const rows = shared.map(metric => ratio(metric, metric, a, b, {}));
  const operations = a.tagValues('response_time', 'operation');
  for (const operation of operations.filter(name => b.tagValues('response_time', 'operation').includes(name))) {
    rows.push(ratio(operation, 'response_time', a, b, { operation }));
  }
  return rows.filter(row => row.counts[0] > 0 && row.counts[1] > 0);
}

function ratio(name: string, metric: string, a: Run, b: Run, tags: Record<string, string>): Ratio {
  const [left, right] = [a, b].map(run => run.sum(metric, tags).merged(0, run.frames));
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
