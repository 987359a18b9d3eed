// Whether the load generator kept up: if it did not, no figure of this page is about the target.

import { LineGroups } from '../charts/line_groups';
import { type Line, TimeChart } from '../charts/time_chart';
import { levels, trends } from '../data/columns';
import type { Generator } from '../data/summary';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { bytes, count, milliseconds, seconds, share, short } from '../text/format';
import { type Context, missing, type Panel, section, sentence, show } from './panel';

/** Threads whose lines can be told apart in one chart. */
const THREADS = 8;

export function generatorPanel(context: Context): Panel {
  const t = text().generator;
  const lag = new TimeChart(context.view, t.lag, 120);
  const cpu = new LineGroups(context.view, t.cpu, 120, THREADS);
  const memory = new TimeChart(context.view, t.memory, 100);
  const files = new TimeChart(context.view, t.files, 100);
  const said = h('div', {});
  const empty = h('div', {});
  const update = () => {
    fill(said, judgement(context.run.summary?.generator));
    const draw = (chart: TimeChart, lines: Line[], format: (value: number | null | undefined) => string) => {
      show(chart.element, lines.length > 0);
      if (lines.length > 0) chart.update({ columns: context.view.columns(), lines, format, marks: context.marks() });
      return lines.length > 0;
    };
    const drawn = [
      draw(lag, lagLines(context), milliseconds),
      drawThreads(context, cpu),
      draw(memory, gaugeLines(context, [['generator.memory', t.memory, 0]], bytes), bytes),
      draw(
        files,
        gaugeLines(
          context,
          [
            ['generator.open_files', t.openFiles, 0],
            ['generator.ports_used', t.ports, 2],
          ],
          short,
        ),
        short,
      ),
    ];
    fill(empty, drawn.some(Boolean) ? null : missing(t.empty));
  };
  const element = section('generator', t.title, said, empty, lag.element, cpu.element, memory.element, files.element);
  return { id: 'generator', title: t.title, element, update };
}

function judgement(generator: Generator | undefined): HTMLElement | null {
  const t = text().generator;
  if (!generator) return null;
  const meaning = generator.state === 'ok' ? t.ok : generator.state === 'warn' ? t.warn : t.invalid;
  const sign = generator.state === 'ok' ? '✓' : generator.state === 'warn' ? '!' : '✗';
  const rows: [string, string | null][] = [
    [t.lagP99, milliseconds(generator.send_lag_ms?.p99)],
    [t.hiccup, milliseconds(generator.hiccup_ms?.max)],
    [t.achieved, share(generator.achieved_ratio)],
    [t.cpu, generator.busiest_core === undefined ? null : `≤ ${share(generator.busiest_core)}`],
    [t.cpuTime, generator.cpu_s === undefined ? null : seconds(generator.cpu_s)],
    [t.waiting, generator.cpu_wait_s ? seconds(generator.cpu_wait_s) : null],
    [t.memory, generator.resident_peak_mb === undefined ? null : `≤ ${bytes(generator.resident_peak_mb * 1e6)}`],
    [
      t.openFiles,
      generator.open_files_limit
        ? t.filesOf(count(generator.open_files_peak), count(generator.open_files_limit))
        : null,
    ],
  ];
  return h(
    'div',
    {},
    h(
      'p',
      { class: generator.state === 'ok' ? 'fine' : generator.state === 'warn' ? 'doubtful' : 'wrong' },
      `${sign} ${meaning}`,
    ),
    generator.cause ? h('p', {}, t.cause[generator.cause] ?? generator.cause) : null,
    generator.findings.length > 0
      ? h(
          'ul',
          { class: 'findings' },
          generator.findings.map(finding => h('li', {}, sentence(finding))),
        )
      : null,
    h(
      'dl',
      { class: 'facts' },
      rows.filter(([, shown]) => shown).map(([name, shown]) => h('div', {}, h('dt', {}, name), h('dd', {}, shown))),
    ),
  );
}

function lagLines({ run, view }: Context): Line[] {
  const t = text().generator;
  const columns = view.columns();
  const rows: [string, string, number, number | null][] = [
    ['generator.lag', t.lagP99, 0, 0.99],
    ['generator.lag', t.lagMax, 1, null],
    ['generator.hiccup', t.hiccup, 3, null],
  ];
  return rows
    .filter(([metric]) => run.sum(metric).merged(0, run.frames).n > 0)
    .map(([metric, label, style, q]) => {
      const read = (one: ReturnType<typeof trends>[number]) =>
        q === null ? (one.n > 0 ? one.max : null) : one.quantile(q);
      const all = run.sum(metric).merged(columns.first, columns.end);
      return { label, style, values: trends(columns, run.sum(metric)).map(read), total: milliseconds(read(all)) };
    });
}

/** A line a thread. */
function drawThreads({ run, view, marks }: Context, chart: LineGroups): boolean {
  const columns = view.columns();
  const threads = run.tagValues('generator.cpu', 'thread');
  show(chart.element, threads.length > 0);
  if (threads.length === 0) return false;
  const line = (at: number): Line => {
    const sum = run.sum('generator.cpu', { thread: threads[at] });
    return {
      label: text().generator.thread(threads[at]),
      style: at,
      values: levels(columns, sum),
      total: `≤ ${share(sum.level(columns.first, columns.end)?.[2])}`,
    };
  };
  chart.update(threads.length, line, { columns, format: share, marks: marks() });
  return true;
}

function gaugeLines(
  { run, view }: Context,
  rows: [string, string, number][],
  format: (value: number | undefined) => string,
): Line[] {
  const columns = view.columns();
  return rows
    .filter(([metric]) => !run.sum(metric).empty)
    .map(([metric, label, style]) => {
      const sum = run.sum(metric);
      return {
        label,
        style,
        values: levels(columns, sum),
        total: `≤ ${format(sum.level(columns.first, columns.end)?.[2])}`,
      };
    });
}
