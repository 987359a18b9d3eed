// Every operation of the window in one table.

import type { Buckets } from '../data/buckets';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { count, milliseconds, NONE, rate, share } from '../text/format';
import { type Context, missing, type Panel, section, show } from './panel';
import { type Column, Table } from './table';

interface Row {
  name: string;
  /** All operations together. */
  isSum?: boolean;
  kind: string;
  buckets: Buckets;
  /** Ended, timed or not. */
  count: number;
  perSecond: number;
  failed: number | null;
  statuses: [code: string, count: number][];
}

export function operationsPanel(context: Context): Panel {
  const t = text().operations;
  const table = new Table<Row>(columns(), t.title, row => (row.failed ? 'some-wrong' : ''));
  const by = h('select', { id: 'operations-by', change: () => update() });
  const choice = h('div', { class: 'choice' }, h('label', { for: 'operations-by' }, t.by), by);
  const note = h('p', { class: 'note' });
  const empty = h('div', {});
  let signature = '';
  const update = () => {
    const keys = keysOf(context.run);
    if (keys.join() !== signature) {
      signature = keys.join();
      fill(
        by,
        keys.map(key => h('option', { value: key }, key === OPERATION ? t.operation : key)),
      );
      by.value = PREFERRED.find(key => keys.includes(key)) ?? OPERATION;
    }
    show(choice, keys.length > 1);
    const rows = rowsOf(context, by.value);
    show(table.element, rows.length > 0);
    note.textContent = rows.length > 0 ? noteOf(context.run, by.value) : '';
    fill(empty, rows.length > 0 ? null : missing(t.empty));
    table.update(rows, rows[0]?.isSum ? 1 : 0);
  };
  return {
    id: 'operations',
    title: t.title,
    element: section('operations', t.title, choice, empty, table.element, note),
    update,
  };
}

/** Rows by operation, as every run has them; or by a tag of requests: of a k6 script's, or of steps that have tags. */
const OPERATION = 'operation';
const REQUESTS = { times: 'http_req_duration', failures: 'http_req_failed' };
/** What a script's own functions took: rows of the table, and no part of "all", as the target is not asked in them. */
const FUNCTIONS = 'function.time';
const TAGGED = { times: 'http.response_time', failures: 'kinds.http.failed' };
const PREFERRED = ['name', 'url'];

function requestsOf(run: Context['run']): typeof REQUESTS {
  return run.series(REQUESTS.times).length > 0 ? REQUESTS : TAGGED;
}

function keysOf(run: Context['run']): string[] {
  const tags = run.tagKeys(requestsOf(run).times).filter(key => key !== OPERATION);
  return run.series('response_time').length > 0 || tags.length === 0 ? [OPERATION, ...tags] : tags;
}

function noteOf(run: Context['run'], key: string): string {
  const t = text().operations;
  if (key === OPERATION) return t.slow;
  return requestsOf(run) === REQUESTS ? t.slowK6 : t.slowTagged;
}

function columns(): Column<Row>[] {
  const t = text().operations.columns;
  const quantile = (key: string, label: string, q: number): Column<Row> => ({
    key,
    label,
    cell: row => milliseconds(row.buckets.quantile(q)),
    by: row => row.buckets.quantile(q),
  });
  const timed = (row: Row, value: number | null) => (row.buckets.n > 0 ? value : null);
  return [
    { key: 'name', label: t.name, text: true, cell: row => row.name, by: row => row.name, title: row => row.name },
    { key: 'kind', label: t.kind, text: true, cell: row => row.kind, by: row => row.kind },
    { key: 'count', label: t.count, cell: row => count(row.count), by: row => row.count },
    { key: 'rate', label: t.rate, cell: row => rate(row.perSecond), by: row => row.perSecond },
    { key: 'failed', label: t.failed, cell: row => failures(row), by: row => row.failed },
    { key: 'statuses', label: t.statuses, text: true, cell: row => statuses(row) },
    {
      key: 'min',
      label: t.min,
      cell: row => milliseconds(timed(row, row.buckets.min)),
      by: row => timed(row, row.buckets.min),
    },
    { key: 'mean', label: t.mean, cell: row => milliseconds(row.buckets.mean()), by: row => row.buckets.mean() },
    quantile('p50', t.p50, 0.5),
    quantile('p90', t.p90, 0.9),
    quantile('p95', t.p95, 0.95),
    quantile('p99', t.p99, 0.99),
    quantile('p999', t.p999, 0.999),
    {
      key: 'max',
      label: t.max,
      cell: row => milliseconds(timed(row, row.buckets.max)),
      by: row => timed(row, row.buckets.max),
    },
  ];
}

function failures(row: Row): string {
  if (row.failed === null) return NONE;
  return row.failed === 0 ? '0' : `${count(row.failed)} (${share(row.failed / Math.max(row.count, 1))})`;
}

function statuses(row: Row): string {
  return row.statuses.map(([code, n]) => `${code}: ${count(n)}`).join(' · ') || NONE;
}

function rowsOf({ run, view }: Context, key: string): Row[] {
  const { first, end, from, to } = view.columns();
  const length = Math.max(to - from, 1e-3);
  const isOperation = key === OPERATION;
  const metric = isOperation ? 'response_time' : requestsOf(run).times;
  const functions = new Set(run.tagValues(FUNCTIONS, OPERATION));
  const kinds = new Map((run.summary?.operations ?? []).map(operation => [operation.name, operation.kind]));
  const answersOf = (code: string, tags: Record<string, string>) =>
    isOperation
      ? run.sum('operations.answers', { ...tags, code }).added(first, end)
      : run.sum(metric, { ...tags, status: code }).merged(first, end).n;
  const added = (metric: string, tags: Record<string, string>): number => {
    const sum = run.sum(metric, tags).added(first, end);
    const isAll = !(OPERATION in tags);
    return isAll ? [...functions].reduce((rest, name) => rest - added(metric, { [OPERATION]: name }), sum) : sum;
  };
  const codes = isOperation ? run.tagValues('operations.answers', 'code') : run.tagValues(metric, 'status');
  const row = (name: string, tags: Record<string, string>, kind: string): Row => {
    const times = isOperation && functions.has(name) ? FUNCTIONS : metric;
    const buckets = run.sum(times, tags).merged(first, end);
    const ended = buckets.n + (isOperation ? added('operations.unanswered', tags) : 0);
    return {
      name,
      kind,
      buckets,
      count: ended,
      perSecond: ended / length,
      failed: isOperation ? added('operations.failed', tags) : failedOf(run, tags, first, end),
      statuses: codes.map(code => [code, answersOf(code, tags)] as [string, number]).filter(([, n]) => n > 0),
    };
  };
  const names = isOperation ? operationNames(run) : run.tagValues(metric, key);
  const rows = names
    .map(name => row(name, { [key]: name }, isOperation ? (kinds.get(name)?.replaceAll('_', ' ') ?? '') : key))
    .filter(one => one.count > 0);
  const all = { ...row(text().operations.all, {}, ''), isSum: true };
  const covered = rows.reduce((sum, one) => sum + one.count, 0);
  if (rows.length === 1 && covered === all.count) return rows;
  return all.count > 0 ? [all, ...rows] : rows;
}

/** An operation that was never answered has no times, and still a row. */
function operationNames(run: Context['run']): string[] {
  const timed = ['response_time', FUNCTIONS].flatMap(metric => run.tagValues(metric, OPERATION));
  return [...new Set([...timed, ...run.tagValues('operations.unanswered', OPERATION)])];
}

/** Requests that failed: of a k6 script those that its own rate says, of steps with tags those that are counted. */
function failedOf(run: Context['run'], tags: Record<string, string>, first: number, end: number): number | null {
  const sum = run.sum(requestsOf(run).failures, tags);
  if (sum.empty) return requestsOf(run) === TAGGED ? 0 : null;
  return sum.series[0].kind === 'rate' ? sum.rated(first, end)[0] : sum.added(first, end);
}
