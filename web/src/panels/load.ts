// What was planned and what came of it: arrivals, requests and messages, users.

import { type Line, TimeChart } from '../charts/time_chart';
import { levels, perSecond } from '../data/columns';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { count, rate, short } from '../text/format';
import { type Context, missing, type Panel, section, show } from './panel';

export function loadPanel(context: Context): Panel {
  const t = text().load;
  const arrivals = new TimeChart(context.view, t.arrivals, 150);
  const traffic = new TimeChart(context.view, t.traffic, 130);
  const users = new TimeChart(context.view, t.users, 130);
  const empty = h('div', {});
  const update = () => {
    const columns = context.view.columns();
    const marks = context.marks();
    const draw = (chart: TimeChart, lines: Line[], format: (value: number | null | undefined) => string) => {
      show(chart.element, lines.length > 0);
      if (lines.length > 0) chart.update({ columns, lines, format, marks });
      return lines.length > 0;
    };
    const drawn = [
      draw(arrivals, counters(context, ARRIVALS), number => rate(number)),
      draw(traffic, counters(context, TRAFFIC), number => rate(number)),
      draw(users, gauges(context), short),
    ];
    fill(empty, drawn.some(Boolean) ? null : missing(t.empty));
  };
  const element = section('load', t.title, empty, arrivals.element, traffic.element, users.element);
  return { id: 'load', title: t.title, element, update };
}

type Key =
  | 'planned'
  | 'started'
  | 'notStarted'
  | 'skipped'
  | 'iterations'
  | 'dropped'
  | 'requests'
  | 'sent'
  | 'received';

/** Metrics with their name, style, and whether a line of nothing but zeros is still worth drawing. */
type Row = [metric: string, key: Key, style: number, always?: boolean];

const ARRIVALS: Row[] = [
  ['arrivals.started', 'started', 0, true],
  ['arrivals.planned', 'planned', 1, true],
  ['arrivals.missed', 'notStarted', 3],
  ['users.skipped', 'skipped', 5],
  ['iterations', 'iterations', 2],
  ['dropped_iterations', 'dropped', 3],
];

const TRAFFIC: Row[] = [
  ['http.requests', 'requests', 0],
  // Of folders that know a k6 script's requests only by k6's name.
  ['http_reqs', 'requests', 0],
  ['messages.sent', 'sent', 2],
  ['messages.received', 'received', 4],
];

function counters({ run, view }: Context, rows: Row[]): Line[] {
  const columns = view.columns();
  const lines: Line[] = [];
  for (const [metric, key, style, always] of rows) {
    const sum = run.sum(metric);
    if (lines.some(line => line.label === text().load[key])) continue;
    if (sum.empty || (!always && sum.added(0, run.frames) === 0)) continue;
    const total = count(sum.added(columns.first, columns.end));
    lines.push({ label: text().load[key], style, values: perSecond(columns, sum), total });
  }
  return lines;
}

function gauges({ run, view }: Context): Line[] {
  const t = text().load;
  const columns = view.columns();
  const known = run.sum('users.active').empty ? 'vus' : 'users.active';
  const rows: [metric: string, label: string, style: number, always: boolean][] = [
    [known, t.active, 0, true],
    ['vus_max', t.vusMax, 1, true],
    // Of runs without real-time connections there are none.
    ['connections.open', t.connections, 4, false],
  ];
  return rows
    .map(([metric, label, style, always]) => ({ label, style, always, sum: run.sum(metric) }))
    .filter(({ sum, always }) => !sum.empty && (always || (sum.level(0, run.frames)?.[2] ?? 0) > 0))
    .map(({ label, style, sum }) => {
      const peak = sum.level(columns.first, columns.end)?.[2];
      return { label, style, values: levels(columns, sum), total: peak === undefined ? '' : `≤ ${short(peak)}` };
    });
}
