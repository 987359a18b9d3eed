// Which part of the run is shown, always in sight; and where the cursor is.

import { text } from '../text';
import { clock, count } from '../text/format';
import { h } from './dom';
import type { View } from './view';

export class WindowBar {
  readonly element: HTMLElement;
  private readonly shown = h('b', { id: 'window' });
  private readonly cursor = h('span', { class: 'cursor-time' });
  private readonly note = h('span', { class: 'note' });
  private readonly reset: HTMLButtonElement;

  constructor(private readonly view: View) {
    const t = text().window;
    this.reset = h('button', { type: 'button', class: 'plain', click: () => view.setWindow(null) }, t.reset);
    this.element = h(
      'div',
      { class: 'window', role: 'group', 'aria-label': t.label },
      h('span', {}, t.label),
      this.shown,
      this.reset,
      this.cursor,
      this.note,
    );
    view.whenCursorMoves(() => this.update());
  }

  update(): void {
    const t = text().window;
    const { from, to, starts, middles, ends } = this.view.columns();
    const { window, cursor, mark } = this.view;
    this.shown.textContent = window
      ? `${clock(from, true)} – ${clock(to, true)}`
      : `${t.whole} ${clock(from)} – ${clock(to)}`;
    this.element.dataset.from = String(from);
    this.element.dataset.to = String(to);
    this.reset.hidden = window === null;
    this.cursor.textContent = cursor === null || cursor >= starts.length ? '' : t.cursor(clock(starts[cursor], true));
    const column = middles.length > 1 ? ends[0] - starts[0] : 0;
    const merged = column > 1.5 ? text().page.merged(`${count(Math.round(column))} s`) : '';
    this.note.textContent = mark === null ? (window ? merged : `${t.hint} ${merged}`) : t.marked(clock(mark, true));
  }
}
