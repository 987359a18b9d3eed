// Errors by class, each with the first example; and the statuses of HTTP answers.

import { TimeChart } from '../charts/time_chart';
import { perSecond } from '../data/columns';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { clock, count, NONE, rate, share } from '../text/format';
import { type Context, type Panel, section, show } from './panel';
import { Table } from './table';

interface Row {
  code: string;
  called: string;
  operation: string;
  count: number;
  window: number;
  first: number | null;
  example: string;
}

/** Classes drawn as lines of their own; the rest are in the table. */
const LINES = 6;

export function errorsPanel(context: Context): Panel {
  const t = text().errors;
  const chart = new TimeChart(context.view, t.chart, 120);
  const table = new Table<Row>(
    [
      {
        key: 'class',
        label: t.columns.class,
        text: true,
        cell: row => h('span', { class: 'code' }, name(row)),
        by: name,
      },
      {
        key: 'operation',
        label: t.columns.operation,
        text: true,
        cell: row => row.operation || NONE,
        by: row => row.operation,
      },
      { key: 'count', label: t.columns.count, cell: row => count(row.count), by: row => row.count },
      { key: 'window', label: t.columns.window, cell: row => count(row.window), by: row => row.window },
      { key: 'first', label: t.columns.first, cell: row => first(row.first), by: row => row.first },
      {
        key: 'example',
        label: t.columns.example,
        text: true,
        cell: row => h('span', { class: 'example' }, row.example || NONE),
      },
    ],
    t.title,
  );
  const statuses = new Table<[string, number, number]>(
    [
      { key: 'status', label: t.status, text: true, cell: ([code]) => code, by: ([code]) => code },
      { key: 'count', label: t.columns.window, cell: ([, n]) => count(n), by: ([, n]) => n },
      { key: 'share', label: t.share, cell: ([, n, all]) => share(n / all) },
    ],
    t.statuses,
    ([code]) => (code >= '400' ? 'wrong' : ''),
  );
  const none = h('div', {});
  const undrawn = h('p', { class: 'note' });
  const codes = h('div', { class: 'narrow' }, h('h3', {}, t.statuses), statuses.element);
  const update = () => {
    const rows = rowsOf(context);
    const { first: from, end } = context.view.columns();
    const seen = context.run.tagValues('http.codes', 'code').map(code => {
      return [code, context.run.sum('http.codes', { code }).added(from, end)] as const;
    });
    const all = seen.reduce((sum, [, n]) => sum + n, 0);
    fill(none, rows.length > 0 ? null : noneOf(seen));
    show(table.element, rows.length > 0);
    table.update(rows);
    show(codes, all > 0);
    statuses.update(seen.filter(([, n]) => n > 0).map(([code, n]) => [code, n, all]));
    show(chart.element, rows.length > 0);
    const classes = context.run.tagValues('errors', 'code').length;
    show(undrawn, classes > LINES);
    undrawn.textContent = t.undrawn(count(classes - LINES));
    if (rows.length > 0) draw(context, chart);
  };
  return {
    id: 'errors',
    title: t.title,
    element: section('errors', t.title, none, table.element, chart.element, undrawn, codes),
    update,
  };
}

/** What to say when no operation failed: an answer with an error status is not nothing. */
function noneOf(seen: readonly (readonly [code: string, count: number])[]): HTMLElement {
  const t = text().errors;
  if (seen.some(([code, n]) => code >= '400' && n > 0)) return h('p', { class: 'wrong' }, `! ${t.errorStatuses}`);
  return h('p', { class: 'fine' }, `✓ ${seen.length > 0 ? t.noneWithCodes : t.none}`);
}

function name(row: Row): string {
  return row.called || row.code;
}

function first(seconds: number | null): string {
  if (seconds === null) return NONE;
  return seconds < 0 ? text().errors.before : clock(seconds, true);
}

/** Classes of the summary with their counts in the window; before the first summary, the counts alone. */
function rowsOf({ run, view }: Context): Row[] {
  const { first: from, end } = view.columns();
  const told = run.summary?.errors ?? [];
  const counted = (code: string, called: string, operation: string) =>
    run
      .series('errors')
      .filter(
        ({ tags }) => tags.code === code && (tags.called ?? '') === called && (tags.operation ?? '') === operation,
      )
      .reduce((sum, series) => sum + series.added(from, end), 0);
  const rows = told.map(row => ({
    code: row.code,
    called: row.called ?? '',
    operation: row.operation ?? '',
    count: row.count,
    window: counted(row.code, row.called ?? '', row.operation ?? ''),
    first: row.first_at_s,
    example: row.example,
  }));
  for (const { tags } of run.series('errors')) {
    const [code, called, operation] = [tags.code ?? '', tags.called ?? '', tags.operation ?? ''];
    if (rows.some(row => row.code === code && row.called === called && row.operation === operation)) continue;
    const known = run.events.find(event => event.kind === 'error' && event.code === code);
    const example = typeof known?.example === 'string' ? known.example : text().errors.withoutSummary;
    const all = run.sum('errors', tags).added(0, run.frames);
    rows.push({
      code,
      called,
      operation,
      count: all,
      window: counted(code, called, operation),
      first: known?.at ?? null,
      example,
    });
  }
  return rows.sort((a, b) => b.count - a.count);
}

function draw({ run, view, marks }: Context, chart: TimeChart): void {
  const columns = view.columns();
  const codes = run
    .tagValues('errors', 'code')
    .map(code => ({ code, sum: run.sum('errors', { code }) }))
    .sort((a, b) => b.sum.added(0, run.frames) - a.sum.added(0, run.frames));
  chart.update({
    columns,
    lines: codes.slice(0, LINES).map(({ code, sum }, i) => ({
      label: code,
      style: i,
      values: perSecond(columns, sum),
      total: count(sum.added(columns.first, columns.end)),
    })),
    format: number => rate(number),
    marks: marks(),
  });
}
