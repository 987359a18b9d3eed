// The page of one run: its panels, brought up to date as it grows; what is in sight first.

import { goesOn } from '../data/contract';
import type { Run } from '../data/run';
import { isWatch } from '../data/sources';
import { ofWatch, panels } from '../panels';
import { marksOf } from '../panels/events';
import type { Context, Panel } from '../panels/panel';
import { text } from '../text';
import { seconds } from '../text/format';
import { fill, h } from './dom';
import { listenToKeys } from './keyboard';
import type { View } from './view';
import { WindowBar } from './window_bar';

/** Runs shorter than this say that their percentiles mean little. */
const SHORT_S = 5;

/** A browser that is never idle still draws what is out of sight, this much later each (ms). */
const IDLE_MS = 100;

/** Why not all of a run is shown. */
export interface Troubles {
  /** What is wrong with the data of a file. */
  data: string | null;
  /** Why a server tells nothing more. */
  server: string | null;
}

export class RunPage {
  readonly element: HTMLElement;
  private readonly panels: Panel[];
  private readonly dirty = new Set<Panel>();
  private readonly seen = new Set<Panel>();
  private readonly notice = h('p', { class: 'notice' });
  private readonly links = new Map<Panel, HTMLElement>();
  private readonly window: WindowBar;
  private scheduled = false;
  private frames = -1;

  constructor(
    private readonly run: Run,
    view: View,
    private readonly troubles: Readonly<Troubles>,
  ) {
    const context: Context = { run, view, marks: () => marksOf(run) };
    // The page is built anew when the run's first line has come.
    const made = panels.map(make => make(context));
    this.panels = isWatch(run) ? made.filter(panel => ofWatch.has(panel.id)) : made;
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

  /** The run has grown, or what is shown of it changed: all is to be drawn again. Until then the page is not ready. */
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
    const link = this.links.get(panel);
    if (link) link.hidden = panel.element.hidden;
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
    const { data, server } = this.troubles;
    if (data) said.push(t.damaged(data));
    if (server) said.push(h('b', {}, text().live.broken(server)), ' ', text().live.brokenHelp, ' ');
    if (this.run.frames === 0) {
      if (goesOn(this.run.state) && !server) said.push(t.waiting);
      else if (server) said.push(t.noFrames);
      else said.push(h('b', {}, t.noFrames), ' ', t.noFramesHelp);
    } else if (this.run.length < SHORT_S && !goesOn(this.run.state) && !isWatch(this.run)) {
      said.push(t.short(seconds(this.run.length)));
    }
    fill(this.notice, said);
    this.notice.hidden = said.length === 0;
  }

  private contents(): HTMLElement {
    for (const panel of this.panels.slice(1)) this.links.set(panel, h('a', { href: `#${panel.id}` }, panel.title));
    return h('nav', { class: 'contents', 'aria-label': text().page.sections }, [...this.links.values()]);
  }
}
