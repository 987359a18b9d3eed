// Two runs laid over one another: verdicts, counts, the ratio of each quantile, and lanes side by side. It says what is
// different, not why, and not whether it would be so again.

import { type Line, TimeChart } from '../charts/time_chart';
import { type Columns, columnsOf, levels, perSecond, trends } from '../data/columns';
import type { Boot } from '../data/contract';
import { Run } from '../data/run';
import type { Sum } from '../data/series';
import { timedMetrics } from '../data/sources';
import { follow } from '../data/stream';
import { nameOf } from '../panels/latency';
import { missing, section } from '../panels/panel';
import { Table } from '../panels/table';
import { verdictPanel } from '../panels/verdict';
import { footer, topBar } from '../shell/bar';
import { fill, h } from '../shell/dom';
import { listenToKeys } from '../shell/keyboard';
import { beginPage, watchColours } from '../shell/theme';
import { View } from '../shell/view';
import { text } from '../text';
import { count, milliseconds, NONE, rate, seconds, share, short } from '../text/format';
import { QUANTILES, type Ratio, ratios, times } from './ratios';

type Put = (...elements: (HTMLElement | null)[]) => void;

export function comparePage(boot: Boot & { mode: 'compare' }, put: Put): void {
  const runs = [new Run(), new Run()] as const;
  const build = () => {
    beginPage();
    new Comparison(runs, put, build).draw();
  };
  build();
  watchColours(() => {});
  let waiting = false;
  const grown = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      build();
    }, 300);
  };
  [boot.a, boot.b].forEach((id, i) => {
    const take = (lines: Parameters<Run['take']>[0][]) => {
      for (const line of lines) runs[i].take(line);
      grown();
    };
    follow(id, take, connection => {
      document.documentElement.dataset[i === 0 ? 'connectionA' : 'connectionB'] = connection;
    });
  });
}

class Comparison {
  private readonly longer: Run;
  private readonly view: View;
  private readonly columns: Columns;

  constructor(
    private readonly runs: readonly [Run, Run],
    private readonly put: Put,
    private readonly again: () => void,
  ) {
    this.longer = runs[0].length >= runs[1].length ? runs[0] : runs[1];
    this.view = new View(this.longer);
    this.columns = this.view.columns();
  }

  draw(): void {
    const t = text().compare;
    const [a, b] = this.runs;
    document.title = `${t.title} · Sonagi`;
    const main = h('main', { id: 'comparison' });
    listenToKeys(main, this.view);
    this.put(topBar(t.title, true, this.again), main, footer(true, a.head?.sonagi));
    if (!a.head || !b.head) return fill(main, h('p', { class: 'notice' }, t.loading));
    const differs = a.head.name !== b.head.name || a.head.language !== b.head.language;
    fill(
      main,
      h('p', { class: 'notice' }, t.note, differs ? ` ${t.scripts}` : ''),
      h('div', { class: 'pair' }, this.verdict(0), this.verdict(1)),
      section('quantiles', t.quantiles, ...this.quantiles()),
      section('counts', t.counts, this.counts()),
      section('side-by-side', t.lanes, ...this.charts()),
    );
    document.documentElement.dataset.ready = `${a.frames},${b.frames}`;
  }

  private verdict(which: 0 | 1): HTMLElement {
    const t = text().compare;
    const run = this.runs[which];
    const panel = verdictPanel({ run, view: new View(run), marks: () => [] });
    panel.element.id = `verdict-${which === 0 ? 'a' : 'b'}`;
    panel.update();
    const { head } = run;
    const link = h('a', { href: `/runs/${encodeURIComponent(head?.id ?? '')}` }, head?.name ?? '');
    return h('div', {}, h('h2', {}, `${which === 0 ? t.a : t.b}: `, link, ` ${head?.id ?? ''}`), panel.element);
  }

  private quantiles(): HTMLElement[] {
    const t = text().compare;
    const rows = ratios(...this.runs);
    if (rows.length === 0) return [missing(t.empty)];
    const table = new Table<Ratio>(
      [
        {
          key: 'name',
          label: text().latency.of,
          text: true,
          cell: row => (row.name === row.metric ? nameOf(row.metric) : `– ${row.name}`),
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
        })),
        { key: 'counts', label: text().latency.table.count, cell: row => row.counts.map(n => count(n)).join(' → ') },
      ],
      t.quantiles,
    );
    table.update(rows);
    return [table.element];
  }

  private counts(): HTMLElement {
    const t = text().compare;
    type Row = [
      name: string,
      a: number | undefined,
      b: number | undefined,
      format: (value: number | undefined) => string,
    ];
    const of = (pick: (run: Run) => number | undefined): [number | undefined, number | undefined] => [
      pick(this.runs[0]),
      pick(this.runs[1]),
    ];
    const total = (metric: string) =>
      of(run => (run.sum(metric).empty ? undefined : run.sum(metric).added(0, run.frames)));
    const facts = text().facts;
    const rows: Row[] = [
      [facts.length, ...of(run => run.length), seconds],
      [facts.users, ...of(run => run.summary?.users?.started), count],
      [text().load.requests, ...total('http.requests'), count],
      [text().load.sent, ...total('messages.sent'), count],
      [text().load.received, ...total('messages.received'), count],
      [facts.errors, ...of(run => run.summary?.errors?.reduce((sum, row) => sum + row.count, 0)), count],
      [facts.delivery, ...of(run => run.summary?.delivery?.ratio), share],
      [text().delivery.late, ...of(run => run.summary?.delivery?.late), count],
      [text().delivery.lost, ...of(run => run.summary?.delivery?.lost), count],
      [text().generator.lagP99, ...of(run => run.summary?.generator?.send_lag_ms?.p99), milliseconds],
    ];
    const table = new Table<Row>(
      [
        { key: 'figure', label: t.figure, text: true, cell: ([name]) => name },
        { key: 'a', label: t.a, cell: ([, a, , format]) => format(a) },
        { key: 'b', label: t.b, cell: ([, , b, format]) => format(b) },
        { key: 'ratio', label: t.ratio, cell: ([, a, b]) => ratio(times(a, b)) },
      ],
      t.counts,
    );
    table.update(rows.filter(([, a, b]) => a !== undefined || b !== undefined));
    return table.element;
  }

  private charts(): HTMLElement[] {
    const t = text();
    const [metric] = timedMetrics(this.runs[0]).filter(name =>
      this.runs.every(run => run.sum(name).merged(0, run.frames).n > 0),
    );
    const charts: (HTMLElement | null)[] = [
      this.chart(
        `${t.load.requests} (${t.lanes.perSecond})`,
        'http.requests',
        (columns, sum) => perSecond(columns, sum),
        value => rate(value),
      ),
      this.chart(
        `${t.load.received} (${t.lanes.perSecond})`,
        'messages.received',
        (columns, sum) => perSecond(columns, sum),
        value => rate(value),
      ),
      this.chart(t.load.active, 'users.active', levels, short),
    ];
    if (metric) {
      for (const q of [0.5, 0.99]) {
        const title = `${nameOf(metric)}: p${q * 100}`;
        charts.push(
          this.chart(title, metric, (columns, sum) => trends(columns, sum).map(one => one.quantile(q)), milliseconds),
        );
      }
    }
    return charts.filter(chart => chart !== null);
  }

  /** One figure of both runs, from their starts on; the shorter run ends earlier. */
  private chart(
    title: string,
    metric: string,
    read: (columns: Columns, sum: Sum) => (number | null)[],
    format: (value: number | null | undefined) => string,
  ): HTMLElement | null {
    if (this.runs.every(run => run.sum(metric).empty)) return null;
    const lines: Line[] = this.runs.map((run, style) => {
      const own = columnsOf(run, null);
      const values = run.sum(metric).empty ? [] : read(own, run.sum(metric));
      return {
        label: style === 0 ? text().compare.a : text().compare.b,
        style: style === 0 ? 0 : 3,
        values: onto(this.columns, own, values),
      };
    });
    const chart = new TimeChart(this.view, title, 130);
    requestAnimationFrame(() => chart.update({ columns: this.columns, lines, format }));
    return chart.element;
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

function ratio(value: number | null): string {
  if (value === null) return NONE;
  const t = text().compare;
  const word = Math.abs(value - 1) < 0.0005 ? t.same : value > 1 ? t.more : t.less;
  return `× ${short(value)} ${word}`;
}
