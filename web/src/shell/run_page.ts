// The page of one run: its panels, brought up to date as it grows; what is in sight first.

import type { Run } from '../data/run';
import { panels } from '../panels';
import { marksOf } from '../panels/events';
import type { Context, Panel } from '../panels/panel';
import { text } from '../text';
import { clock, count, seconds } from '../text/format';
import { fill, h } from './dom';
import { listenToKeys } from './keyboard';
import type { View } from './view';

/** Runs shorter than this say that their percentiles mean little. */
const SHORT_S = 5;

/** A browser that is never idle still draws what is out of sight, this much later each (ms). */
const IDLE_MS = 100;

export class RunPage {
  readonly element: HTMLElement;
  private readonly panels: Panel[];
  private readonly dirty = new Set<Panel>();
  private readonly seen = new Set<Panel>();
  private readonly notice = h('p', { class: 'notice' });
  private readonly window: WindowBar;
  private scheduled = false;
  private frames = -1;

  constructor(
    private readonly run: Run,
    view: View,
    private readonly problem: string | null,
  ) {
    const context: Context = { run, view, marks: () => marksOf(run) };
    this.panels = panels.map(make => make(context));
    this.window = new WindowBar(view);
    const [verdict, ...rest] = this.panels;
    this.element = h(
      'main',
      { id: 'page' },
      this.notice,
      verdict.element,
      this.contents(),
      this.window.element,
      rest.map(panel => panel.element),
    );
    listenToKeys(this.element, view);
    view.whenWindowChanges(() => this.refresh());
    this.watchSight();
  }

  /** The run has grown, or what is shown of it changed: everything is to be drawn again. Until it is, the page is not ready. */
  refresh(): void {
    delete document.documentElement.dataset.ready;
    for (const panel of this.panels) this.dirty.add(panel);
    if (this.scheduled) return;
    this.scheduled = true;
    setTimeout(() => {
      this.scheduled = false;
      this.work();
    }, 0);
  }

  /** Draws everything now: for paper. */
  drawAll(): void {
    this.showNotice();
    for (const panel of this.panels) this.draw(panel);
  }

  private work(): void {
    this.showNotice();
    this.window.update();
    for (const panel of this.panels) if (this.seen.has(panel) || panel === this.panels[0]) this.draw(panel);
    this.rest();
  }

  /** What is out of sight is drawn when there is time, one panel at once. */
  private rest(): void {
    const [next] = this.dirty;
    if (!next) {
      if (!this.scheduled) document.documentElement.dataset.ready = String(this.run.frames);
      return;
    }
    const draw = () => {
      const [panel] = this.dirty;
      if (panel) this.draw(panel);
      this.rest();
    };
    if ('requestIdleCallback' in window) requestIdleCallback(draw, { timeout: IDLE_MS });
    else setTimeout(draw, 1);
  }

  private draw(panel: Panel): void {
    if (!this.dirty.delete(panel)) return;
    panel.update();
  }

  private watchSight(): void {
    const observer = new IntersectionObserver(
      entries => {
        for (const entry of entries) {
          const panel = this.panels.find(one => one.element === entry.target);
          if (!panel) continue;
          if (entry.isIntersecting) {
            this.seen.add(panel);
            this.draw(panel);
          } else this.seen.delete(panel);
        }
      },
      { rootMargin: '300px' },
    );
    for (const panel of this.panels) observer.observe(panel.element);
  }

  private showNotice(): void {
    if (this.frames === this.run.frames && this.run.state !== 'running') return;
    this.frames = this.run.frames;
    const t = text().empty;
    const said: (Node | string)[] = [];
    if (this.problem) said.push(t.damaged(this.problem));
    if (this.run.frames === 0) {
      if (this.run.state === 'running') said.push(t.waiting);
      else said.push(h('b', {}, t.noFrames), ' ', t.noFramesHelp);
    } else if (this.run.length < SHORT_S && this.run.state !== 'running') said.push(t.short(seconds(this.run.length)));
    fill(this.notice, said);
    this.notice.hidden = said.length === 0;
  }

  private contents(): HTMLElement {
    return h(
      'nav',
      { class: 'contents', 'aria-label': text().page.sections },
      this.panels.slice(1).map(panel => h('a', { href: `#${panel.id}` }, panel.title)),
    );
  }
}

/** Which part of the run is shown, always in sight; and what the cursor says, for ears. */
class WindowBar {
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
