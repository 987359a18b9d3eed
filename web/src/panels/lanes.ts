// A lane for every metric that no other panel shows: those of scripts and probes at once, the run's own when opened.
// A lane knows only what came with the data: kind, unit, tags, and a sentence about the metric.

import { LineGroups } from '../charts/line_groups';
import type { Line } from '../charts/time_chart';
import { type Columns, levels, perSecond, shares, trends } from '../data/columns';
import type { Kind } from '../data/contract';
import { Sum } from '../data/series';
import { others } from '../data/sources';
import { h } from '../shell/dom';
import { language, text } from '../text';
import { count, rate, share, value } from '../text/format';
import { type Context, type Panel, section, show } from './panel';

/** Lines of one chart; lanes that are drawn at once. */
const LINES = 6;
const LANES = 60;

export function lanesPanel(context: Context): Panel {
  const t = text().lanes;
  const own = new Lanes(context);
  const known = new MoreLanes(context);
  const empty = h('p', { class: 'note' }, t.empty);
  const update = () => {
    const metrics = others(context.run);
    show(empty, metrics.own.length === 0);
    own.update(metrics.own);
    known.update(metrics.known);
  };
  return { id: 'lanes', title: t.title, element: section('lanes', t.title, empty, own.element, known.element), update };
}

/** Lanes that are drawn when they are asked for. */
class MoreLanes {
  readonly element: HTMLDetailsElement;
  private readonly summary = h('summary', {});
  private lanes: Lanes | null = null;
  private metrics: string[] = [];

  constructor(private readonly context: Context) {
    this.element = h('details', { class: 'more' }, this.summary);
    this.element.addEventListener('toggle', () => this.draw());
  }

  update(metrics: string[]): void {
    this.metrics = metrics;
    this.summary.textContent = text().lanes.more(count(metrics.length));
    show(this.element, metrics.length > 0);
    this.draw();
  }

  private draw(): void {
    if (!this.element.open) return;
    if (!this.lanes) {
      this.lanes = new Lanes(this.context);
      this.element.append(this.lanes.element);
    }
    this.lanes.update(this.metrics);
  }
}

class Lanes {
  readonly element: HTMLElement;
  private readonly place = h('div', { class: 'lanes' });
  private readonly charts = new Map<string, LineGroups>();
  private more: MoreLanes | null = null;

  constructor(private readonly context: Context) {
    this.element = h('div', {}, this.place);
  }

  update(metrics: string[]): void {
    for (const metric of metrics.slice(0, LANES)) drawLane(this.context, this.chart(metric), metric);
    if (metrics.length <= LANES) return;
    if (!this.more) {
      this.more = new MoreLanes(this.context);
      this.element.append(this.more.element);
    }
    this.more.update(metrics.slice(LANES));
  }

  private chart(metric: string): LineGroups {
    const known = this.charts.get(metric);
    if (known) return known;
    const [first] = this.context.run.series(metric);
    const chart = new LineGroups(this.context.view, laneTitle(metric, first.kind), 100, LINES);
    this.charts.set(metric, chart);
    const about = first.about?.[language()];
    this.place.append(
      h(
        'div',
        { class: 'lane', 'data-metric': metric },
        chart.element,
        about ? h('p', { class: 'note' }, about) : null,
      ),
    );
    return chart;
  }
}

function laneTitle(metric: string, kind: Kind): string {
  const t = text().lanes;
  if (kind === 'counter') return `${metric} (${t.perSecond})`;
  return kind === 'rate' ? `${metric} (${t.share})` : metric;
}

function drawLane({ run, view, marks }: Context, chart: LineGroups, metric: string): void {
  const columns = view.columns();
  const series = run.series(metric);
  const [{ kind, unit }] = series;
  const drawing = {
    columns,
    marks: marks(),
    format: (number: number | null | undefined) =>
      kind === 'counter' ? rate(number, unit) : kind === 'rate' ? share(number) : value(number, unit),
  };
  if (kind === 'trend') {
    const lines = trendLines(columns, run.sum(metric), unit);
    return chart.update(lines.length, i => lines[i], drawing);
  }
  // Shares of many parts are one line: that of the whole.
  if (kind === 'rate' && series.length > LINES)
    return chart.update(1, () => lineOf(columns, run.sum(metric), unit), drawing);
  chart.update(series.length, i => lineOf(columns, new Sum([series[i]], run.head?.scale ?? 4), unit), drawing);
}

/** Of a trend, percentiles of all its series together. */
function trendLines(columns: Columns, all: Sum, unit: string): Line[] {
  const merged = all.merged(columns.first, columns.end);
  const byColumn = trends(columns, all);
  // What only some values are told of (those of one tag) says so.
  const tag = all.series.length === 1 ? Object.values(all.series[0].tags).join(' · ') : '';
  return [0.5, 0.99].map(q => ({
    label: `${tag} p${q * 100}`.trim(),
    style: 0,
    values: byColumn.map(one => one.quantile(q)),
    total: value(merged.quantile(q), unit),
  }));
}

/** Series that are no trend: one, or of a rate all of them together. */
function lineOf(columns: Columns, sum: Sum, unit: string): Line {
  const [{ kind, tags }] = sum.series;
  const part = sum.series.length === 1 ? Object.values(tags).join(' · ') : '';
  const line = { label: part || text().lanes.value, style: 0 };
  const { first, end } = columns;
  if (kind === 'counter') {
    return { ...line, values: perSecond(columns, sum), total: value(sum.added(first, end), unit) };
  }
  if (kind === 'rate') {
    const [passes, total] = sum.rated(first, end);
    return { ...line, values: shares(columns, sum), total: total > 0 ? share(passes / total) : '' };
  }
  return { ...line, values: levels(columns, sum), total: value(sum.level(first, end)?.[0], unit) };
}
