// Latency over time: where the values lie, with percentiles over them; of all operations, or of one, or of one tag.

import { type HeatMap, heatMap, ramp } from '../charts/heat_map';
import { TimeChart } from '../charts/time_chart';
import { trends } from '../data/columns';
import { TIMED, timedMetrics } from '../data/sources';
import { fill, h } from '../shell/dom';
import { colour, whenColoursChange } from '../shell/theme';
import type { Part } from '../shell/view';
import { text } from '../text';
import { count, milliseconds, rate, short } from '../text/format';
import { type Context, missing, type Panel, section, show } from './panel';

export function nameOf(metric: string): string {
  const key = TIMED[metric as keyof typeof TIMED];
  return key ? text().latency[key] : metric;
}

/** What the reader chose, as far as the run has it; else the first metric that has values. */
export function partOf({ run, view }: Context): Part | null {
  const metrics = timedMetrics(run);
  if (view.part && metrics.includes(view.part.metric)) return view.part;
  const metric = metrics.find(name => run.sum(name).merged(0, run.frames).n > 0) ?? metrics[0];
  return metric ? { metric, tag: null } : null;
}

export function latencyPanel(context: Context): Panel {
  const t = text().latency;
  const chart = new TimeChart(context.view, t.title, 300);
  const choice = new Choice(context);
  const legend = h('div', { class: 'ramp' });
  const bound = h('p', { class: 'note' });
  const empty = h('div', {});
  let map: HeatMap | null = null;
  const drawLegend = () => fill(legend, map ? legendOf(map) : null);
  whenColoursChange(drawLegend);
  const update = () => {
    const { run, view } = context;
    const part = partOf(context);
    choice.update(part);
    const columns = view.columns();
    const sum = part && run.sum(part.metric, part.tag ? { [part.tag[0]]: part.tag[1] } : {});
    const byColumn = sum ? trends(columns, sum) : [];
    const scale = run.head?.scale ?? 4;
    map = heatMap(columns, byColumn, scale);
    show(chart.element, map !== null);
    show(bound, map !== null);
    fill(empty, map ? null : missing(t.empty));
    drawLegend();
    bound.textContent = t.bound(`${short((2 ** (0.5 / 2 ** scale) - 1) * 100)} %`);
    if (!map || !sum) return;
    const drawn = map;
    const all = sum.merged(columns.first, columns.end);
    const line = (label: string, style: number, q: number | null) => ({
      label,
      style,
      width: 1.5,
      values: byColumn.map(one => floor(q === null ? (one.n > 0 ? one.max : null) : one.quantile(q), drawn.range[0])),
      total: milliseconds(q === null ? (all.n > 0 ? all.max : null) : all.quantile(q)),
    });
    chart.update({
      columns,
      lines: [line('p50', 6, 0.5), line('p99', 7, 0.99), line(t.max, 3, null)],
      format: milliseconds,
      logarithmic: true,
      range: drawn.range,
      background: u => drawn.paint(u),
      marks: context.marks(),
      extra: [{ label: t.table.count, values: byColumn.map(one => one.n), format: count }],
    });
  };
  const element = section('latency', t.title, choice.element, empty, chart.element, legend, bound);
  return { id: 'latency', title: t.title, element, update };
}

/** A logarithmic axis has no place for 0: such a value lies on its lower edge. */
function floor(value: number | null, lowest: number): number | null {
  return value === null ? null : Math.max(value, lowest);
}

function legendOf(map: HeatMap): HTMLElement {
  const steps = ramp().map((_, i) => {
    const swatch = h('span', { class: 'step' });
    swatch.style.backgroundColor = colour(`heat${i}`);
    const density = map.sparsest * (map.densest / map.sparsest) ** (i / 4);
    return h('span', {}, swatch, rate(density));
  });
  return h('div', { class: 'steps' }, h('span', { class: 'note' }, text().latency.colours), steps);
}

/** The two menus: which metric, and which part of it. */
class Choice {
  readonly element: HTMLElement;
  private readonly metric: HTMLSelectElement;
  private readonly part: HTMLSelectElement;
  private signature = '';

  constructor(private readonly context: Context) {
    const t = text().latency;
    const change = () => this.chosen();
    this.metric = h('select', {
      id: 'latency-metric',
      change: () => this.context.view.setPart({ metric: this.metric.value, tag: null }),
    });
    this.part = h('select', { id: 'latency-part', change });
    this.element = h(
      'div',
      { class: 'choice' },
      h('label', { for: 'latency-metric' }, t.of),
      this.metric,
      h('label', { for: 'latency-part' }, t.part),
      this.part,
    );
  }

  /** Menus are made anew only when what they offer changed: an open one stays open while a run goes on. */
  update(part: Part | null): void {
    const { run } = this.context;
    const metrics = timedMetrics(run);
    const tags = part ? run.tagKeys(part.metric).map(key => [key, run.tagValues(part.metric, key)] as const) : [];
    const signature = JSON.stringify([metrics, part?.metric, tags]);
    if (signature !== this.signature) {
      this.signature = signature;
      fill(
        this.metric,
        metrics.map(metric => h('option', { value: metric }, nameOf(metric))),
      );
      fill(
        this.part,
        h('option', { value: '' }, text().latency.all),
        tags.map(([key, values]) =>
          h(
            'optgroup',
            { label: key },
            values.map(value => h('option', { value: JSON.stringify([key, value]) }, value)),
          ),
        ),
      );
    }
    show(this.element, metrics.length > 0);
    this.metric.value = part?.metric ?? '';
    this.part.value = part?.tag ? JSON.stringify(part.tag) : '';
  }

  private chosen(): void {
    const tag = this.part.value === '' ? null : (JSON.parse(this.part.value) as [string, string]);
    this.context.view.setPart({ metric: this.metric.value, tag });
  }
}
