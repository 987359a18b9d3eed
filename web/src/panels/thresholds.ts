// Thresholds with the value each saw, and how far that is from the limit.

import { goesOn } from '../data/contract';
import type { Run } from '../data/run';
import { isK6 } from '../data/sources';
import type { Threshold } from '../data/summary';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { NONE, share, value } from '../text/format';
import { type Context, missing, type Panel, section, sentence } from './panel';
import { Table } from './table';

export interface Judged {
  limit: number;
  value: number;
  /** Values below the limit are good. */
  below: boolean;
  /** As the script has it: `<`, `>=`, `==`, … */
  operator: string;
}

/** A threshold that compares one figure with one number; null when it is more than that. */
export function judged(threshold: Threshold): Judged | null {
  const limit = /(<=?|>=?|[!=]==?)\s*(-?[\d.]+(?:e[+-]?\d+)?)\s*$/.exec(threshold.expression);
  const seen = /=\s*(-?[\d.]+(?:e[+-]?\d+)?)\s*$/.exec(threshold.evidence);
  if (!limit || !seen || /\b(and|or)\b|&&|\|\|/.test(threshold.expression)) return null;
  return { limit: Number(limit[2]), value: Number(seen[1]), below: limit[1].startsWith('<'), operator: limit[1] };
}

/** The unit of a threshold's figure, as far as its name says it. */
function unitOf(context: Context, threshold: Threshold): string {
  const [metric] = threshold.metrics;
  if (/_ms\b|response_time|session_length/.test(threshold.expression)) return 'ms';
  if (/\bratio\b|\brate *[<>=]/.test(threshold.expression)) return 'share';
  const series = metric ? context.run.series(metric.replace(/\{.*$/, ''))[0] : undefined;
  return series?.kind === 'trend' ? series.unit : 'number';
}

function margin(of: Judged): string {
  const t = text().thresholds;
  if (of.value === of.limit) return t.atLimit;
  if (of.limit === 0) return NONE;
  const distance = Math.abs(of.value - of.limit) / Math.abs(of.limit);
  return of.value < of.limit ? t.below(share(distance)) : t.above(share(distance));
}

export function thresholdsPanel(context: Context): Panel {
  const t = text().thresholds;
  const table = new Table<Threshold>(
    [
      {
        key: 'expression',
        label: t.columns.expression,
        text: true,
        cell: row =>
          h(
            'span',
            { class: 'code', title: row.strict ? undefined : t.notStrict },
            row.expression,
            row.strict ? '' : ' *',
          ),
      },
      {
        key: 'state',
        label: t.columns.state,
        text: true,
        cell: row => h('span', { class: row.held ? 'good' : 'bad' }, row.held ? `✓ ${t.held}` : `✗ ${t.failed}`),
      },
      {
        key: 'value',
        label: t.columns.value,
        cell: row => {
          const of = judged(row);
          return of ? value(of.value, unitOf(context, row)) : sentence(row.evidence);
        },
      },
      {
        key: 'limit',
        label: t.columns.limit,
        cell: row => {
          const of = judged(row);
          return of ? `${of.operator} ${value(of.limit, unitOf(context, row))}` : NONE;
        },
      },
      {
        key: 'margin',
        label: t.columns.margin,
        cell: row => {
          const of = judged(row);
          return of ? margin(of) : NONE;
        },
      },
    ],
    t.title,
  );
  const body = h('div', {});
  const update = () => {
    const thresholds = context.run.summary?.thresholds;
    if (!thresholds) return fill(body, missing(goesOn(context.run.state) ? t.pending : t.unjudged));
    if (thresholds.length === 0) return fill(body, nothing(context));
    table.update([...thresholds].sort((a, b) => Number(a.held) - Number(b.held)));
    fill(
      body,
      table.element,
      thresholds.some(row => !row.strict) ? h('p', { class: 'note' }, `* ${t.notStrict}`) : null,
    );
  };
  return { id: 'thresholds', title: t.title, element: section('thresholds', t.title, body), update };
}

function nothing({ run }: Context): HTMLElement {
  const t = text().thresholds;
  if (isK6(run)) {
    return missing(t.emptyK6, "export const options = { thresholds: { http_req_duration: ['p(95)<300'] } };");
  }
  return missing(t.empty, `config:\n  ensure:\n    thresholds:\n      - ${JSON.stringify(measurable(run))}: 300`);
}

/** A figure that this run has: a threshold on one that nothing of a script can produce is refused. */
function measurable({ summary }: Run): string {
  if (summary?.delivery?.owed) return 'delivery.latency_ms.p99';
  const operations = (summary?.operations ?? []).filter(({ kind }) => kind !== 'function');
  const isHttp = operations.length === 0 || operations.some(({ kind }) => kind === 'http');
  return isHttp ? 'http.response_time.p95' : `operations.${operations[0].name}.response_ms.p95`;
}
