// Two runs laid over one another: verdicts, the ratio of each quantile, counts, and charts side by side, of the window
// that is looked at. It says what is different, not why, and not whether it would be so again.

import type { Boot } from '../data/contract';
import { Run } from '../data/run';
import { follow } from '../data/stream';
import { missing, type Panel, section, show } from '../panels/panel';
import { verdictPanel } from '../panels/verdict';
import { footer, topBar } from '../shell/bar';
import { fill, h } from '../shell/dom';
import { listenToKeys } from '../shell/keyboard';
import { beginPage } from '../shell/theme';
import { View } from '../shell/view';
import { WindowBar } from '../shell/window_bar';
import { text } from '../text';
import { ComparedCharts } from './compared_charts';
import { counts, countTable, quantileTable } from './compared_tables';
import { type Part, ratios } from './ratios';

type Put = (...elements: (HTMLElement | null)[]) => void;
type Pair<T> = readonly [T, T];

/** How long lines are gathered before the page is brought up to date, in milliseconds. */
const GATHER_MS = 300;

export function comparePage(boot: Boot & { mode: 'compare' }, put: Put): void {
  const runs: Pair<Run> = [new Run(), new Run()];
  const failures: string[] = [];
  let comparison: Comparison;
  const build = () => {
    beginPage();
    const window = comparison?.view.window ?? null;
    comparison = new Comparison(runs, failures);
    comparison.view.window = window;
    document.title = `${text().compare.title} · Sonagi`;
    put(topBar(text().compare.title, true, build), comparison.element, footer(true));
    comparison.update();
  };
  build();
  let waiting = false;
  const grown = () => {
    delete document.documentElement.dataset.ready;
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      comparison.update();
    }, GATHER_MS);
  };
  [boot.a, boot.b].forEach((id, i) => {
    follow(id, {
      lines: lines => {
        for (const line of lines) runs[i].take(line);
        grown();
      },
      connection: connection => {
        document.documentElement.dataset[i === 0 ? 'connectionA' : 'connectionB'] = connection;
      },
      restart: () => {
        runs[i].forget();
        grown();
      },
      failed: why => {
        failures.push(why);
        grown();
      },
    });
  });
}

/** The page in one language. It is built once and brought up to date in place: what the reader did to it stays. */
class Comparison {
  readonly element = h('main', { id: 'comparison' });
  readonly view: View;
  private readonly notice = h('p', { class: 'notice' });
  private readonly loading = h('p', { class: 'notice' }, text().compare.loading);
  private readonly body: HTMLElement;
  private readonly verdicts: Pair<Side>;
  private readonly window: WindowBar;
  private readonly quantiles = quantileTable();
  private readonly none = missing(text().compare.empty);
  private readonly counts = countTable();
  private readonly charts: ComparedCharts;

  constructor(
    private readonly runs: Pair<Run>,
    private readonly failures: readonly string[],
  ) {
    const t = text().compare;
    this.view = new View(runs[0]);
    this.charts = new ComparedCharts(this.view, runs);
    this.window = new WindowBar(this.view);
    this.verdicts = [new Side(runs[0], 'a'), new Side(runs[1], 'b')];
    this.body = h(
      'div',
      {},
      h('div', { class: 'pair' }, this.verdicts[0].element, this.verdicts[1].element),
      this.window.element,
      section('quantiles', t.quantiles, this.none, this.quantiles.element),
      section('counts', t.counts, this.counts.element),
      section('side-by-side', t.lanes, this.charts.element),
    );
    fill(this.element, this.notice, this.loading, this.body);
    listenToKeys(this.element, this.view);
    this.view.whenWindowChanges(() => this.update());
  }

  update(): void {
    const [a, b] = this.runs;
    const known = a.head !== null && b.head !== null;
    show(this.loading, !known && this.failures.length === 0);
    show(this.body, known);
    this.say();
    if (!known) return;
    this.view.follow(a.length >= b.length ? a : b);
    for (const verdict of this.verdicts) verdict.update();
    this.window.update();
    const parts = [this.part(a), this.part(b)] as const;
    const rows = ratios(...parts);
    show(this.none, rows.length === 0);
    show(this.quantiles.element, rows.length > 0);
    this.quantiles.update(rows);
    this.counts.update(counts(...parts));
    this.charts.update();
    document.documentElement.dataset.ready = `${a.frames},${b.frames}`;
  }

  private say(): void {
    const t = text().compare;
    const [a, b] = this.runs.map(run => run.head);
    const differs = a && b && (a.name !== b.name || a.language !== b.language);
    fill(
      this.notice,
      this.failures.map(why => h('b', {}, text().live.broken(why), ' ')),
      t.note,
      differs ? ` ${t.scripts}` : '',
    );
  }

  /** The frames of a run in the window. */
  private part(run: Run): Part {
    const [first, end] = this.view.window ? run.framesCentredIn(...this.view.window) : [0, run.frames];
    return { run, first, end };
  }
}

/** The verdict of one of the two, with its name. */
class Side {
  readonly element: HTMLElement;
  private readonly panel: Panel;
  private readonly link = h('a', {});
  private readonly id = h('span', {});

  constructor(
    private readonly run: Run,
    which: 'a' | 'b',
  ) {
    this.panel = verdictPanel({ run, view: new View(run), marks: () => [] });
    this.panel.element.id = `verdict-${which}`;
    this.element = h('div', {}, h('h2', {}, `${text().compare[which]}: `, this.link, ' ', this.id), this.panel.element);
  }

  update(): void {
    const { head } = this.run;
    this.link.href = `/runs/${encodeURIComponent(head?.id ?? '')}`;
    this.link.textContent = head?.name ?? '';
    this.id.textContent = head?.id ?? '';
    this.panel.update();
  }
}
