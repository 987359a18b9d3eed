// The tables of two runs: the ratio of each quantile, and counts; both of the window.

import type { Run } from '../data/run';
import { nameOf } from '../panels/latency';
import { type Column, Table } from '../panels/table';
import { h } from '../shell/dom';
import { text } from '../text';
import { count, milliseconds, NONE, seconds, share, short } from '../text/format';
import { type Part, QUANTILES, type Ratio, times } from './ratios';

export function quantileTable(): Table<Ratio> {
  const t = text().compare;
  const columns: Column<Ratio>[] = [
    {
      key: 'name',
      label: text().latency.of,
      text: true,
      cell: row => (row.name === row.metric ? nameOf(row.metric) : `– ${row.name}`),
      by: row => row.name,
    },
    ...QUANTILES.map((q, i) => ({
      key: `p${q * 100}`,
      label: `p${q * 100}  ${t.ratio}`,
      cell: (row: Ratio) =>
        h(
          'span',
          {},
          h('b', {}, ratio(times(row.a[i], row.b[i]))),
          h('br', {}),
          h('span', { class: 'note' }, `${milliseconds(row.a[i])} → ${milliseconds(row.b[i])}`),
        ),
      by: (row: Ratio) => times(row.a[i], row.b[i]),
    })),
    { key: 'counts', label: text().latency.table.count, cell: row => row.counts.map(n => count(n)).join(' → ') },
  ];
  return new Table(columns, t.quantiles);
}

type Figure = number | undefined;

interface Count {
  name: string;
  a: Figure;
  b: Figure;
  format: (value: Figure) => string;
}

export function countTable(): Table<Count> {
  const t = text().compare;
  return new Table<Count>(
    [
      { key: 'figure', label: t.figure, text: true, cell: row => row.name },
      { key: 'a', label: t.a, cell: row => row.format(row.a) },
      { key: 'b', label: t.b, cell: row => row.format(row.b) },
      { key: 'ratio', label: t.ratio, cell: row => ratio(times(row.a, row.b)) },
    ],
    t.counts,
  );
}

/** The figures that at least one of the two has. */
export function counts(a: Part, b: Part): Count[] {
  const { facts, library, load, delivery, generator } = text();
  const rows: [name: string, of: (part: Part) => Figure, format: Count['format']][] = [
    [facts.length, lengthOf, seconds],
    [library.columns.users, part => counted(part, 'users.created') ?? counted(part, 'arrivals.started'), count],
    [load.requests, part => counted(part, 'http.requests') ?? counted(part, 'http_reqs'), count],
    [load.sent, part => counted(part, 'messages.sent'), count],
    [load.received, part => counted(part, 'messages.received'), count],
    [facts.errors, part => counted(part, 'errors') ?? (part.run.frames > 0 ? 0 : undefined), count],
    [facts.delivery, deliveredOf, share],
    [delivery.late, part => fateOf(part, 'late'), count],
    [delivery.lost, part => fateOf(part, 'lost'), count],
    [generator.lagP99, lagOf, milliseconds],
  ];
  return rows
    .map(([name, of, format]) => ({ name, a: of(a), b: of(b), format }))
    .filter(row => row.a !== undefined || row.b !== undefined);
}

function counted({ run, first, end }: Part, metric: string): Figure {
  const sum = run.sum(metric);
  return sum.empty ? undefined : sum.added(first, end);
}

function lengthOf({ run, first, end }: Part): number {
  return end > first ? run.ends[end - 1] - run.starts[first] : 0;
}

/** The summary, where all of a run is looked at: it also has what was found out after the last second. */
function whole({ run, first, end }: Part): Run['summary'] {
  return first === 0 && end === run.frames ? run.summary : null;
}

function fateOf(part: Part, fate: 'late' | 'lost'): Figure {
  if (part.run.sum('delivery.owed').empty) return undefined;
  return whole(part)?.delivery?.[fate] ?? counted(part, `delivery.${fate}`) ?? 0;
}

function deliveredOf(part: Part): Figure {
  const ratio = whole(part)?.delivery?.ratio;
  if (ratio !== undefined) return ratio;
  const owed = counted(part, 'delivery.owed') ?? 0;
  return owed > 0 ? (owed - (counted(part, 'delivery.lost') ?? 0)) / owed : undefined;
}

function lagOf({ run, first, end }: Part): Figure {
  return run.sum('generator.lag').merged(first, end).quantile(0.99) ?? undefined;
}

function ratio(value: number | null): string {
  if (value === null) return NONE;
  const t = text().compare;
  const word = Math.abs(value - 1) < 0.0005 ? t.same : value > 1 ? t.more : t.less;
  return `× ${short(value)} ${word}`;
}
