// A lane for every metric that no other panel shows: those of scripts and probes at once, the run's own when opened.
// A lane knows only what came with the data: kind, unit, tags, and a sentence about the metric.

import { type Line, TimeChart } from '../charts/time_chart';
import { levels, perSecond, shares, trends } from '../data/columns';
import type { Kind } from '../data/contract';
import { type Series, Sum } from '../data/series';
import { others } from '../data/sources';
import { fill, h } from '../shell/dom';
import { language, text } from '../text';
import { count, rate, share, value } from '../text/format';
import { type Context, missing, type Panel, section, show } from './panel';

/** Lines of one lane; lanes of the page. */
const LINES = 6;
const LANES = 60;

export function lanesPanel(context: Context): Panel {
  const t = text().lanes;
  const own = new Lanes(context);
  const known = new Lanes(context);
  const summary = h('summary', {});
  const details = h('details', { class: 'more' }, summary, known.element);
  const empty = h('div', {});
  const update = () => {
    const metrics = others(context.run);
    fill(empty, metrics.own.length > 0 ? null : h('p', { class: 'note' }, t.empty));
    own.update(metrics.own);
    summary.textContent = t.more(count(metrics.known.length));
    show(details, metrics.known.length > 0);
    if (details.open) known.update(metrics.known);
  };
  details.addEventListener('toggle', update);
  return { id: 'lanes', title: t.title, element: section('lanes', t.title, empty, own.element, details), update };
}

class Lanes {
  readonly element = h('div', { class: 'lanes' });
  private readonly charts = new Map<string, TimeChart>();

  constructor(private readonly context: Context) {}

  update(metrics: string[]): void {
    for (const metric of metrics.slice(0, LANES)) {
      let chart = this.charts.get(metric);
      if (!chart) {
        const [first] = this.context.run.series(metric);
        chart = new TimeChart(this.context.view, laneTitle(metric, first.kind), 100);
        this.charts.set(metric, chart);
        const about = first.about?.[language()];
        this.element.append(
          h(
            'div',
            { class: 'lane', 'data-metric': metric },
            chart.element,
            about ? h('p', { class: 'note' }, about) : null,
          ),
        );
      }
      drawLane(this.context, chart, metric);
    }
    if (metrics.length > LANES && this.element.lastElementChild?.className !== 'missing') {
      this.element.append(missing(text().lanes.others(count(metrics.length - LANES))));
    }
  }
}

function laneTitle(metric: string, kind: Kind): string {
  const t = text().lanes;
  if (kind === 'counter') return `${metric} (${t.perSecond})`;
  return kind === 'rate' ? `${metric} (${t.share})` : metric;
}

function drawLane({ run, view, marks }: Context, chart: TimeChart, metric: string): void {
  const columns = view.columns();
  const series = run.series(metric);
  const [{ kind, unit }] = series;
  const draw = (lines: Line[], format: (number: number | null | undefined) => string) => {
    chart.update({ columns, lines, format, marks: marks() });
  };
  if (kind === 'trend') {
    const all = run.sum(metric);
    const merged = all.merged(columns.first, columns.end);
    const byColumn = trends(columns, all);
    // What only some values are told of (those of one tag) says so.
    const tag = series.length === 1 ? Object.values(series[0].tags).join(' · ') : '';
    const line = (label: string, style: number, q: number): Line => ({
      label: tag ? `${tag} ${label}` : label,
      style,
      values: byColumn.map(one => one.quantile(q)),
      total: value(merged.quantile(q), unit),
    });
    return draw([line('p50', 0, 0.5), line('p99', 1, 0.99)], number => value(number, unit));
  }
  const lines = series.slice(0, LINES).map((one, style) => lineOf(one, style));
  return draw(
    lines,
    kind === 'counter' ? number => rate(number, unit) : kind === 'rate' ? share : number => value(number, unit),
  );

  function lineOf(one: Series, style: number): Line {
    const sum = new Sum([one], run.head?.scale ?? 4);
    const label = Object.values(one.tags).join(' · ') || text().lanes.value;
    if (kind === 'counter') {
      return {
        label,
        style,
        values: perSecond(columns, sum),
        total: value(sum.added(columns.first, columns.end), unit),
      };
    }
    if (kind === 'rate') {
      const [passes, total] = sum.rated(columns.first, columns.end);
      return { label, style, values: shares(columns, sum), total: total > 0 ? share(passes / total) : '' };
    }
    return {
      label,
      style,
      values: levels(columns, sum),
      total: value(sum.level(columns.first, columns.end)?.[0], unit),
    };
  }
}
