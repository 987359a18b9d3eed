// Phases and events: numbered marks on every chart, and here what they are.

import type { Mark } from '../charts/marks';
import type { RunEvent } from '../data/contract';
import type { Run } from '../data/run';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { clock, count } from '../text/format';
import { type Context, missing, type Panel, section } from './panel';

/** Marks on charts; rows of the list. */
const MARKS = 30;
const ROWS = 200;

/** Events that are marked on charts: what happened once, not each class of errors. */
function marked(run: Run): RunEvent[] {
  return run.events.filter(event => event.kind !== 'error' && event.kind !== 'end').slice(0, MARKS);
}

export function marksOf(run: Run): Mark[] {
  return marked(run).map((event, i) => ({ at: event.at, label: String(i + 1) }));
}

export function eventsPanel(context: Context): Panel {
  const t = text().events;
  const body = h('div', {});
  const update = () => {
    const numbers = new Map(marked(context.run).map((event, i) => [event, i + 1]));
    const events = [...context.run.events].sort((a, b) => a.at - b.at);
    if (events.length === 0) return fill(body, missing(t.empty));
    const row = (event: RunEvent) =>
      h(
        'tr',
        {},
        h('td', {}, numbers.get(event)?.toString() ?? ''),
        h('th', { scope: 'row' }, clock(event.at, true)),
        h('td', { class: 'text' }, describe(event)),
      );
    fill(
      body,
      h(
        'div',
        { class: 'scroll narrow', tabindex: 0, role: 'region', 'aria-label': t.title },
        h(
          'table',
          {},
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              h('th', { scope: 'col' }, t.mark),
              h('th', { scope: 'col', class: 'text' }, t.at),
              h('th', { scope: 'col', class: 'text' }, t.what),
            ),
          ),
          h('tbody', {}, events.slice(0, ROWS).map(row)),
        ),
      ),
      events.length > ROWS ? h('p', { class: 'note' }, t.more(count(events.length - ROWS))) : null,
    );
  };
  return { id: 'events', title: t.title, element: section('events', t.title, body), update };
}

function describe(event: RunEvent): string {
  const t = text().events;
  const detail = { ...event, ...(typeof event.detail === 'object' ? event.detail : {}) } as Record<string, unknown>;
  switch (event.kind) {
    case 'phase':
      return t.phase(String(detail.name ?? ''));
    case 'draining':
    case 'test_began':
    case 'test_ended':
      return t[event.kind];
    case 'end':
      return detail.interrupted ? t.interrupted : t.ended;
    case 'error':
      return t.error([detail.called || detail.code, detail.operation, detail.example].filter(Boolean).join(' · '));
    case 'target':
    case 'unmeasured':
      return t[event.kind](String(detail.subject ?? ''), String(detail.text ?? ''));
    default:
      return generic(event);
  }
}

/** An event that this page has no words for: its kind and all that belongs to it. */
function generic(event: RunEvent): string {
  const { at: _at, kind, detail, ...more } = event;
  const members = { ...more, ...(typeof detail === 'object' ? detail : {}) };
  const told = Object.entries(members).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return told.length > 0
    ? `${kind.replaceAll('_', ' ')} (${told.join(', ').slice(0, 400)})`
    : kind.replaceAll('_', ' ');
}
