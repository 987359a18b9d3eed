// The percentile spectrum: how many values lie at or below each latency. Its horizontal axis is the logarithm of
// 1 / (1 − share), so that 90, 99 and 99.9 % are equally far apart and the tail is as wide as the middle.

import uPlot from 'uplot';
import type { Buckets } from '../data/buckets';
import { h } from '../shell/dom';
import { colour, whenColoursChange } from '../shell/theme';
import { text } from '../text';
import { count, milliseconds } from '../text/format';
import { logSplits } from './log_axis';
import { swatch } from './swatch';
import { AXIS } from './time_chart';

export interface SpectrumLine {
  label: string;
  style: number;
  buckets: Buckets;
}

const SHARES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
const TABLE = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

export class SpectrumChart {
  readonly element: HTMLElement;
  private readonly box = h('div', { class: 'plot' });
  private readonly keys = h('div', { class: 'keys' });
  private readonly table = h('div', { class: 'scroll' });
  private plot: uPlot | null = null;

  constructor(
    title: string,
    private readonly height: number,
  ) {
    this.box.style.height = `${height}px`;
    this.element = h(
      'figure',
      { class: 'chart', role: 'figure', 'aria-label': title },
      h('figcaption', {}, this.keys),
      this.box,
      this.table,
    );
    const resize = () => {
      const width = this.box.clientWidth;
      if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height });
    };
    whenColoursChange(() => {
      resize();
      this.plot?.redraw();
    });
    new ResizeObserver(resize).observe(this.box);
  }

  update(lines: readonly SpectrumLine[]): void {
    this.plot?.destroy();
    this.keys.replaceChildren(
      ...lines.map(line => h('span', { class: 'key' }, swatch(line.style, DASH[line.style] ?? []), line.label)),
    );
    this.table.replaceChildren(quantileTable(lines));
    const tables = lines.map(line => curve(line.buckets));
    const data = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const values = lines.flatMap(line => [line.buckets.min, line.buckets.max]).filter(value => value > 0);
    const range: [number, number] = [Math.min(...values, 1e3) * 0.9, Math.max(...values, 1e-3) * 1.1];
    this.plot = new uPlot(this.options(lines, range), data, this.box);
  }

  private options(lines: readonly SpectrumLine[], range: [number, number]): uPlot.Options {
    const most = Math.max(...lines.map(line => line.buckets.n), 10);
    const grid = { stroke: () => colour('grid'), width: 1 };
    return {
      width: Math.max(120, this.box.clientWidth),
      height: this.height,
      padding: [6, 24, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 5 } },
      scales: {
        x: { time: false, distr: 3, range: () => [1, most] },
        y: { distr: 3, range: () => range },
      },
      axes: [
        {
          stroke: () => colour('quiet'),
          grid,
          ticks: { show: false },
          font: FONT,
          size: 24,
          splits: () => SHARES.map(share => 1 / (1 - share)).filter(x => x <= most * 1.001),
          values: (_u, splits) => splits.map(x => percentile(1 - 1 / x)),
          filter: (_u, splits) => splits,
        },
        {
          stroke: () => colour('quiet'),
          grid,
          ticks: { show: false },
          font: FONT,
          size: AXIS,
          space: 22,
          splits: (_u, _axis, min, max) => logSplits(min, max),
          values: (_u, splits) => splits.map(split => (split === null ? '' : milliseconds(split))),
        },
      ],
      series: [
        {},
        ...lines.map(line => ({
          label: line.label,
          stroke: () => colour(`c${line.style}`),
          width: 2,
          dash: DASH[line.style] ?? [],
          spanGaps: true,
          points: { show: false },
          paths: uPlot.paths.stepped!({ align: 1 }),
        })),
      ],
    };
  }
}

const DASH: Record<number, number[]> = { 1: [6, 3], 2: [2, 2] };
const FONT = '11px system-ui, sans-serif';

/** From the share of values below a bucket on, its value holds. */
function curve(buckets: Buckets): uPlot.AlignedData {
  const [xs, ys]: [number[], number[]] = [[], []];
  let below = 0;
  for (const { share, value } of buckets.spectrum()) {
    xs.push(1 / (1 - below));
    ys.push(Math.max(value, 1e-6));
    below = share;
  }
  xs.push(Math.max(buckets.n, xs.at(-1)! * 1.0001));
  ys.push(Math.max(buckets.max, 1e-6));
  return [xs, ys];
}

function percentile(share: number): string {
  return share === 0 ? '0 %' : `${Number((share * 100).toFixed(6))} %`;
}

function quantileTable(lines: readonly SpectrumLine[]): HTMLElement {
  const t = text();
  const head = [...TABLE.map(percentile), t.latency.max, t.spectrum.values];
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, t.spectrum.percentile),
        head.map(label => h('th', { scope: 'col' }, label)),
      ),
    ),
    h(
      'tbody',
      {},
      lines.map(({ label, buckets }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, label),
          TABLE.map(q => h('td', { 'data-q': q }, milliseconds(buckets.quantile(q)))),
          h('td', {}, milliseconds(buckets.n > 0 ? buckets.max : null)),
          h('td', {}, count(buckets.n)),
        ),
      ),
    ),
  );
}
