// Charts of two runs: one figure of both in each, from their starts on; the shorter run ends earlier.

import { TimeChart } from '../charts/time_chart';
import { type Columns, columnsOf, levels, perSecond, trends } from '../data/columns';
import type { Run } from '../data/run';
import type { Sum } from '../data/series';
import { nameOf } from '../panels/latency';
import { show } from '../panels/panel';
import { h } from '../shell/dom';
import type { View } from '../shell/view';
import { text } from '../text';
import { count, milliseconds, rate, short } from '../text/format';
import { sharedMetrics } from './ratios';

interface Figure {
  title: string;
  metric: string;
  read: (columns: Columns, sum: Sum) => (number | null)[];
  format: (value: number | null | undefined) => string;
  /** What all of the window came to. */
  total: (sum: Sum, first: number, end: number) => string;
}

export class ComparedCharts {
  readonly element = h('div', {});
  private readonly charts = new Map<string, TimeChart>();

  constructor(
    private readonly view: View,
    private readonly runs: readonly [Run, Run],
  ) {}

  update(): void {
    const wanted = this.figures().filter(({ metric }) => this.runs.some(run => !run.sum(metric).empty));
    for (const [title, chart] of this.charts) {
      show(
        chart.element,
        wanted.some(figure => figure.title === title),
      );
    }
    for (const figure of wanted) this.draw(figure);
  }

  private draw({ title, metric, read, format, total }: Figure): void {
    let chart = this.charts.get(title);
    if (!chart) {
      chart = new TimeChart(this.view, title, 130);
      this.charts.set(title, chart);
      this.element.append(chart.element);
    }
    const columns = this.view.columns();
    const lines = this.runs.map((run, i) => {
      const own = columnsOf(run, this.view.window);
      const sum = run.sum(metric);
      return {
        label: i === 0 ? text().compare.a : text().compare.b,
        style: i === 0 ? 0 : 3,
        values: onto(columns, own, sum.empty ? [] : read(own, sum)),
        total: sum.empty || own.end === own.first ? '' : total(sum, own.first, own.end),
      };
    });
    chart.update({ columns, lines, format });
  }

  private figures(): Figure[] {
    const t = text();
    const perS = (name: string, metric: string): Figure => ({
      title: `${name} (${t.lanes.perSecond})`,
      metric,
      read: perSecond,
      format: value => rate(value),
      total: (sum, first, end) => count(sum.added(first, end)),
    });
    const users: Figure = {
      title: t.load.active,
      metric: 'users.active',
      read: levels,
      format: short,
      total: (sum, first, end) => `≤ ${short(sum.level(first, end)?.[2])}`,
    };
    const [timed] = sharedMetrics(...this.runs);
    const quantiles = (timed ? [0.5, 0.99] : []).map(q => ({
      title: `${nameOf(timed)}: p${q * 100}`,
      metric: timed,
      read: (columns: Columns, sum: Sum) => trends(columns, sum).map(one => one.quantile(q)),
      format: milliseconds,
      total: (sum: Sum, first: number, end: number) => milliseconds(sum.merged(first, end).quantile(q)),
    }));
    const counters = [perS(t.load.requests, 'http.requests'), perS(t.load.received, 'messages.received')];
    return [...counters, users, ...quantiles];
  }
}

/** Values of one run at the columns of the other: those of the moment that a column's middle lies in. */
export function onto(target: Columns, own: Columns, values: readonly (number | null)[]): (number | null)[] {
  let at = 0;
  return target.middles.map(middle => {
    while (at < own.ends.length && own.ends[at] <= middle) at += 1;
    return at < own.ends.length && own.starts[at] <= middle ? (values[at] ?? null) : null;
  });
}
