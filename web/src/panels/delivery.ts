// What became of every copy that was owed.

import { type Line, TimeChart } from '../charts/time_chart';
import { levels, perSecond } from '../data/columns';
import { isK6 } from '../data/sources';
import type { Room } from '../data/summary';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { count, milliseconds, NONE, rate, share, short } from '../text/format';
import { type Context, missing, type Panel, section, show } from './panel';
import { Table } from './table';

const FATES = [
  'messages',
  'owed',
  'delivered',
  'late',
  'replayed',
  'lost',
  'duplicate',
  'reordered',
  'leaked',
  'unknown',
] as const;
type Fate = (typeof FATES)[number];

/** Fates that nobody wants. */
const WRONG: readonly Fate[] = ['lost', 'late', 'duplicate', 'reordered', 'leaked', 'unknown'];

interface Row {
  label: string;
  window: number | null;
  share: number | null;
  total: number | null;
  wrong: boolean;
}

export function deliveryPanel(context: Context): Panel {
  const t = text().delivery;
  const flow = new TimeChart(context.view, t.flow, 130);
  const problems = new TimeChart(context.view, t.problems, 120);
  const outstanding = new TimeChart(context.view, t.outstanding, 100);
  const table = new Table<Row>(
    [
      { key: 'fate', label: t.table.fate, text: true, cell: row => row.label },
      { key: 'window', label: t.table.count, cell: row => count(row.window) },
      { key: 'share', label: t.table.share, cell: row => share(row.share) },
      { key: 'total', label: t.table.total, cell: row => count(row.total) },
    ],
    t.title,
    row => (row.wrong ? 'wrong' : ''),
  );
  const deadline = h('p', { class: 'note' });
  const rooms = worstRooms();
  const tracked = h(
    'div',
    {},
    h('div', { class: 'narrow' }, table.element),
    deadline,
    flow.element,
    problems.element,
    outstanding.element,
    rooms.element,
  );
  const empty = h('div', {});
  const update = () => {
    const { run, view, marks } = context;
    const columns = view.columns();
    const summary = run.summary?.delivery;
    const isTracked = Boolean(summary) || !run.sum('delivery.owed').empty;
    show(tracked, isTracked);
    fill(empty, isTracked ? null : missing(isK6(run) ? t.emptyK6 : t.empty));
    if (!isTracked) return;
    table.update(rowsOf(context));
    deadline.textContent = summary ? t.deadline(milliseconds(summary.deadline_ms)) : '';
    const lines = (fates: readonly Fate[], styles: number[]): Line[] =>
      fates.map((fate, i) => {
        const sum = run.sum(`delivery.${fate}`);
        return {
          label: t[fate],
          style: styles[i],
          values: perSecond(columns, sum),
          total: count(sum.added(columns.first, columns.end)),
        };
      });
    flow.update({
      columns,
      lines: lines(['delivered', 'owed'], [0, 1]),
      format: number => rate(number),
      marks: marks(),
    });
    const wrong = WRONG.filter(fate => run.sum(`delivery.${fate}`).added(0, run.frames) > 0);
    show(problems.element, wrong.length > 0);
    if (wrong.length > 0) {
      problems.update({
        columns,
        lines: lines(
          wrong,
          wrong.map(fate => WRONG_STYLES[WRONG.indexOf(fate)]),
        ),
        format: number => rate(number),
        marks: marks(),
      });
    }
    const awaited = run.sum('delivery.outstanding');
    const waited = (awaited.level(0, run.frames)?.[2] ?? 0) > 0;
    show(outstanding.element, waited);
    if (waited) {
      outstanding.update({
        columns,
        lines: [{ label: t.awaited, style: 4, values: levels(columns, awaited) }],
        format: short,
        marks: marks(),
      });
    }
    rooms.update(summary?.rooms);
  };
  return { id: 'delivery', title: t.title, element: section('delivery', t.title, empty, tracked), update };
}

const WRONG_STYLES = [3, 1, 2, 4, 5, 7];

function rowsOf({ run, view }: Context): Row[] {
  const t = text().delivery;
  const { first, end } = view.columns();
  const summary = run.summary?.delivery;
  const owed = run.sum('delivery.owed').added(first, end);
  const rows = FATES.map(fate => {
    const sum = run.sum(`delivery.${fate}`);
    const window = sum.empty ? 0 : sum.added(first, end);
    const total = summary?.[fate] ?? sum.added(0, run.frames);
    const part = fate === 'messages' || fate === 'owed' || owed === 0 ? null : window / owed;
    return { label: t[fate], window, share: part, total, wrong: WRONG.includes(fate) && (total > 0 || window > 0) };
  });
  const parts: [string, number | undefined][] = [
    [t.lostTail, summary?.lost_tail],
    [t.lostGap, summary?.lost_gap],
    [t.neverAccepted, summary?.never_accepted],
    [t.lostOwn, summary?.lost_own],
  ];
  const known = parts.flatMap(([label, total = 0]) =>
    total > 0 ? [{ label: `– ${label}`, window: Number.NaN, share: null, total, wrong: true }] : [],
  );
  rows.splice(FATES.indexOf('lost') + 1, 0, ...known);
  return rows;
}

function worstRooms(): { element: HTMLElement; update(rooms: Room[] | undefined): void } {
  const t = text().delivery;
  const number = (key: Exclude<keyof Room, 'room' | 'p99_ms'>) => ({
    key,
    label: t[key],
    cell: (room: Room) => count(room[key]),
    by: (room: Room) => room[key],
  });
  const table = new Table<Room>(
    [
      { key: 'room', label: t.room, text: true, cell: room => room.room, by: room => room.room },
      ...(['owed', 'delivered', 'late', 'replayed', 'lost', 'duplicate', 'reordered', 'leaked'] as const).map(number),
      {
        key: 'p99',
        label: 'p99',
        cell: room => (room.p99_ms === undefined ? NONE : milliseconds(room.p99_ms)),
        by: room => room.p99_ms ?? null,
      },
    ],
    t.rooms,
  );
  const worst = h('div', { id: 'rooms' }, h('h3', {}, t.rooms), table.element);
  const none = h('p', { class: 'fine' }, `✓ ${t.noRooms}`);
  const update = (rooms: Room[] | undefined) => {
    const wrong = (rooms ?? []).filter(
      room => room.lost + room.late + room.duplicate + room.reordered + room.leaked > 0,
    );
    show(none, rooms !== undefined && wrong.length === 0);
    show(worst, wrong.length > 0);
    table.update(wrong);
  };
  return { element: h('div', {}, none, worst), update };
}
