// A chart that may have more lines than can be told apart: the first are drawn, the others in charts of as many lines
// each below it, once they are asked for.

import { h } from '../shell/dom';
import type { View } from '../shell/view';
import { text } from '../text';
import { count } from '../text/format';
import { type Drawing, type Line, TimeChart } from './time_chart';

/** Charts below the first: what is left out then is said. */
const CHARTS = 20;

export class LineGroups {
  readonly element: HTMLElement;
  private readonly first: TimeChart;
  private readonly charts: TimeChart[] = [];
  private readonly summary = h('summary', {});
  private readonly place = h('div', {});
  private readonly left = h('p', { class: 'note' });
  private readonly details: HTMLDetailsElement;
  private draw = () => {};

  constructor(
    private readonly view: View,
    private readonly title: string,
    private readonly height: number,
    /** Lines of one chart. */
    private readonly each: number,
  ) {
    this.first = new TimeChart(view, title, height);
    this.details = h('details', { class: 'more further' }, this.summary, this.place, this.left);
    this.details.addEventListener('toggle', () => this.draw());
    this.element = h('div', {}, this.first.element, this.details);
  }

  /** `line` makes a line of `lines`; it is asked for those alone that are drawn. */
  update(lines: number, line: (at: number) => Line, drawing: Omit<Drawing, 'lines'>): void {
    const group = (from: number) =>
      Array.from({ length: Math.min(this.each, lines - from) }, (_, i) => ({ ...line(from + i), style: i }));
    this.first.update({ ...drawing, lines: group(0) });
    const t = text().lanes;
    const more = Math.max(0, lines - this.each);
    const left = Math.max(0, more - CHARTS * this.each);
    this.details.hidden = more === 0;
    this.summary.textContent = t.further(count(more));
    this.left.hidden = left === 0;
    this.left.textContent = t.undrawn(count(left));
    this.draw = () => {
      if (!this.details.open) return;
      for (let at = 0; at < CHARTS && (at + 1) * this.each < lines; at += 1) {
        const from = (at + 1) * this.each;
        this.chart(at, from).update({ ...drawing, lines: group(from) });
      }
    };
    this.draw();
  }

  private chart(at: number, from: number): TimeChart {
    if (!this.charts[at]) {
      const title = `${this.title} (${count(from + 1)}–${count(from + this.each)})`;
      this.charts[at] = new TimeChart(this.view, title, this.height);
      this.place.append(this.charts[at].element);
    }
    return this.charts[at];
  }
}
