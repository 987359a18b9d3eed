// The table behind a chart: the same values in at most sixty rows, made when it is opened.

import { h } from '../shell/dom';
import { text } from '../text';
import { clock, count } from '../text/format';
import type { Drawing } from './time_chart';

const ROWS = 60;

export function chartTable(title: string, drawing: () => Drawing | null): HTMLElement & { refresh(): void } {
  const place = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title });
  const details = h('details', { class: 'as-table' }, h('summary', {}, text().table.open), place);
  const refresh = () => {
    const shown = drawing();
    if (details.open && shown) place.replaceChildren(tableOf(title, shown));
  };
  details.addEventListener('toggle', refresh);
  return Object.assign(details, { refresh });
}

function tableOf(title: string, drawing: Drawing): HTMLElement {
  const { columns, lines, format } = drawing;
  const all = [...lines.map(line => ({ ...line, format })), ...(drawing.extra ?? [])];
  const step = Math.max(1, Math.ceil(columns.middles.length / ROWS));
  const rows: HTMLElement[] = [];
  for (let i = 0; i < columns.middles.length; i += step) {
    const cells = all.map(line => h('td', {}, line.format(line.values[i])));
    rows.push(h('tr', {}, h('th', { scope: 'row' }, clock(columns.starts[i])), cells));
  }
  return h(
    'table',
    {},
    h('caption', {}, step > 1 ? `${title} · ${text().table.every(count(step))}` : title),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, text().table.time),
        all.map(line => h('th', { scope: 'col' }, line.label)),
      ),
    ),
    h('tbody', {}, rows),
  );
}
