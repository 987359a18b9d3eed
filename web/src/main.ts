// Which page this is: the file of a run, a run that is served, the library, two runs compared, the runs
// of a matrix, a search for a capacity, or two sides of runs. The binary says so by the element it put into the page.

import type { Boot } from './data/contract';
import { decode } from './data/decode';
import { Run } from './data/run';
import { follow } from './data/stream';
import { capacityPage } from './library/capacity_page';
import { comparePage } from './library/compare_page';
import { libraryPage } from './library/library_page';
import { matrixPage } from './library/matrix_page';
import { sidesPage } from './library/sides_page';
import { footer, prepareTheme, topBar } from './shell/bar';
import { h } from './shell/dom';
import { Live } from './shell/live';
import { RunPage, type Troubles } from './shell/run_page';
import { beginPage, watchColours } from './shell/theme';
import { takeToken } from './shell/token';
import { View } from './shell/view';
import { initialLanguage, setLanguage, text } from './text';

const body = document.body;

function put(...elements: (HTMLElement | null)[]): void {
  const spoken = h('div', { id: 'spoken', class: 'spoken', 'aria-live': 'polite', role: 'status' });
  body.replaceChildren(...elements.filter(element => element !== null), spoken);
}

/** A run on the page. */
interface Shown {
  /** The run has more lines. */
  grown(): void;
  /** Nothing more comes of it, for this reason. */
  failed(why: string): void;
  /** The run has lost all its lines. */
  anew(): void;
}

/** Shows a run, and again in another language when the reader asks for it. */
function showRun(run: Run, problem: string | null, live: Live | null, library: boolean): Shown {
  let page: RunPage | null = null;
  let view = new View(run);
  let named = false;
  const troubles: Troubles = { data: problem, server: null };
  const build = () => {
    beginPage(() => page?.drawAll());
    const before = view;
    view = new View(run);
    view.window = before.window;
    view.part = before.part;
    named = run.head !== null;
    page = new RunPage(run, view, troubles);
    const title = run.head?.name ?? '';
    document.title = `${title} · Sonagi`;
    put(topBar(title, library, build, live?.controls() ?? null), page.element, footer(true, run.head?.sonagi));
    page.refresh();
  };
  build();
  return {
    grown: () => {
      if (!named && run.head) build();
      view.grown();
      page?.refresh();
    },
    failed: why => {
      troubles.server = why;
      page?.refresh();
    },
    anew: () => {
      view = new View(run);
      build();
    },
  };
}

async function showFile(data: HTMLElement): Promise<void> {
  const { lines, problem } = await decode(data.textContent ?? '');
  const run = new Run();
  for (const line of lines) run.take(line);
  data.remove();
  // A file is never written to again: without an `end` it was cut off, and one of a run under way ends with `running`.
  if (run.state === 'running') run.state = lines.at(-1)?.end ? 'unfinished' : 'cut_off';
  if (!run.head) return showNothing(problem);
  showRun(run, problem, null, false);
}

function showServed(boot: Boot & { mode: 'run' }): void {
  const run = new Run();
  const live = new Live(run, boot);
  const shown = showRun(run, null, live, boot.library ?? false);
  const stream = follow(boot.id, {
    lines: lines => {
      for (const line of lines) run.take(line);
      live.update();
      shown.grown();
    },
    connection: connection => live.connected(connection),
    restart: () => {
      run.forget();
      live.update();
      shown.anew();
    },
    failed: why => shown.failed(why),
    next: id => {
      // Who opened a run by its name stays with it; the page of the process goes on with the process.
      if (location.pathname !== '/') return;
      stream.stop();
      showServed({ ...boot, id });
    },
  });
}

function showNothing(problem: string | null): void {
  const t = text().empty;
  const page = h(
    'main',
    { id: 'page' },
    h('p', { class: 'notice' }, h('b', {}, t.noData), ' ', t.noDataHelp),
    problem ? h('p', { class: 'notice' }, t.damaged(problem)) : null,
  );
  put(
    topBar('', false, () => showNothing(problem)),
    page,
  );
  document.documentElement.dataset.ready = '0';
}

function start(): void {
  setLanguage(initialLanguage(), false);
  prepareTheme();
  watchColours();
  const data = document.getElementById('sonagi-data');
  const boot = document.getElementById('sonagi-boot');
  if (data) return void showFile(data);
  if (!boot) return showNothing(null);
  takeToken();
  const told = JSON.parse(boot.textContent ?? '{}') as Boot;
  if (told.mode === 'run') return showServed(told);
  if (told.mode === 'compare') return comparePage(told, put);
  if (told.mode === 'matrix') return matrixPage(told, put);
  if (told.mode === 'capacity') return capacityPage(told, put);
  if (told.mode === 'sides') return sidesPage(told, put);
  return libraryPage(told, put);
}

start();
