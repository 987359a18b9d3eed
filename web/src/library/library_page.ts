// The library: a folder of runs as a table; open one, or select two to compare.

import type { Boot, RunRow } from '../data/contract';
import { sentence } from '../panels/panel';
import { Table } from '../panels/table';
import { footer, topBar } from '../shell/bar';
import { append, fill, h } from '../shell/dom';
import { text } from '../text';
import { count, date, milliseconds, NONE, rate, seconds, share } from '../text/format';
import { said } from '../text/sentences';

/** How often the list is asked for again, in milliseconds: runs begin and end. */
const AGAIN_MS = 5_000;
/** A folder of several runs, and which page it has. */
interface Experiment {
  name: string;
  kind: 'matrices' | 'capacities';
}

type Put = (...elements: (HTMLElement | null)[]) => void;

export function libraryPage(_boot: Boot & { mode: 'library' }, put: Put): void {
  const library = new Library(put);
  library.build();
  void library.keepReading();
}

class Library {
  private rows: RunRow[] | null = null;
  private experiments: Experiment[] = [];
  private problem = '';
  private filter = '';
  /** The two runs to compare, by id, in the order of selection. */
  private picked: string[] = [];
  private table!: Table<RunRow>;
  private readonly said = h('p', { class: 'note', role: 'status' });
  private readonly together = h('p', { class: 'note', id: 'experiments' });
  private readonly compare = h('button', { type: 'button', class: 'plain', id: 'compare' });

  constructor(private readonly put: Put) {
    this.compare.addEventListener('click', () => {
      const [a, b] = this.picked.map(encodeURIComponent);
      location.href = `/compare?a=${a}&b=${b}`;
    });
  }

  /** The page in the chosen language. */
  build(): void {
    const t = text().library;
    document.title = `${t.title} · Sonagi`;
    this.table = new Table(this.columns(), t.title);
    const search = h('input', {
      type: 'search',
      id: 'filter',
      'aria-label': t.filter,
      placeholder: t.filter,
      size: 40,
    });
    search.value = this.filter;
    search.addEventListener('input', () => {
      this.filter = search.value;
      this.draw();
    });
    this.compare.textContent = t.compare;
    const tools = h('div', { class: 'choice library-tools' }, search, this.compare, this.said);
    this.put(
      topBar(t.title, false, () => this.build()),
      h('main', { id: 'library' }, tools, this.together, this.table.element),
      footer(false),
    );
    this.draw();
  }

  async keepReading(): Promise<void> {
    try {
      const answer = await fetch('/api/runs', { headers: { accept: 'application/json' } });
      if (answer.ok) {
        const { runs, experiments } = (await answer.json()) as { runs: RunRow[]; experiments?: Experiment[] };
        [this.rows, this.experiments] = [runs, experiments ?? []];
      }
      this.problem = answer.ok ? '' : String(answer.status);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.draw();
    document.documentElement.dataset.ready = String(this.rows?.length ?? 0);
    setTimeout(() => void this.keepReading(), AGAIN_MS);
  }

  private draw(): void {
    const t = text().library;
    const wanted = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = (this.rows ?? []).filter(row => wanted.every(word => words(row).includes(word)));
    this.table.element.hidden = rows.length === 0;
    this.table.update(rows);
    this.drawExperiments();
    this.compare.disabled = this.picked.length !== 2;
    const picked = this.picked.length > 0 ? ` · ${t.picked(count(this.picked.length))}` : '';
    if (this.problem) fill(this.said, t.failed(this.problem));
    else if (this.rows === null) fill(this.said);
    else if (this.rows.length === 0) fill(this.said, t.empty);
    else if (rows.length === 0) fill(this.said, t.noMatch);
    else fill(this.said, t.shown(count(rows.length), count(this.rows.length)) + picked);
  }

  /** Links to what several runs say together. */
  private drawExperiments(): void {
    this.together.hidden = this.experiments.length === 0;
    const href = ({ kind, name }: Experiment) => `/${kind}/${encodeURIComponent(name)}`;
    const links = this.experiments.map(experiment => [' ', h('a', { href: href(experiment) }, experiment.name)]);
    fill(this.together, text().library.experiments, links);
  }

  private pick(row: RunRow, chosen: boolean): void {
    this.picked = this.picked.filter(id => id !== row.id);
    if (chosen) this.picked = [...this.picked, row.id].slice(-2);
    this.draw();
  }

  private columns() {
    const t = text().library.columns;
    const box = (row: RunRow) => {
      const input = h('input', { type: 'checkbox', 'aria-label': text().library.pick(row.name), 'data-run': row.id });
      input.checked = this.picked.includes(row.id);
      input.disabled = row.state === 'unreadable';
      input.addEventListener('change', () => this.pick(row, input.checked));
      return input;
    };
    const number = (
      key: string,
      label: string,
      of: (row: RunRow) => number | null | undefined,
      show: (n: number) => string,
    ) => ({
      key,
      label,
      cell: (row: RunRow) => {
        const value = of(row);
        return value === null || value === undefined ? NONE : show(value);
      },
      by: (row: RunRow) => of(row) ?? null,
    });
    return [
      { key: 'name', label: t.name, text: true, by: (row: RunRow) => row.name, cell: link },
      { key: 'pick', label: t.pick, text: true, cell: box },
      { key: 'verdict', label: t.verdict, text: true, by: (row: RunRow) => outcomeOf(row), cell: verdict },
      {
        key: 'when',
        label: t.when,
        text: true,
        by: (row: RunRow) => row.started,
        cell: (row: RunRow) => date(row.started),
      },
      number('length', t.length, row => row.duration_s, seconds),
      number('users', t.users, row => row.users, count),
      number('rate', t.rate, row => row.rate_per_s, rate),
      number('delivery', t.delivery, row => row.delivery_ratio, share),
      number('p99', t.p99, row => row.p99_ms, milliseconds),
      number('generator', t.generator, row => row.generator?.lag_p99_ms, milliseconds),
      {
        key: 'reasons',
        label: t.reasons,
        text: true,
        cell: reasons,
      },
    ];
  }
}

function link(row: RunRow): Node {
  return h('a', { href: `/runs/${encodeURIComponent(row.id)}` }, row.name || row.id);
}

/** What the run came to, or what it is doing. */
function outcomeOf(row: RunRow): string {
  if (row.state === 'running' || row.state === 'cut_off' || row.state === 'unreadable') return row.state;
  return row.language === 'watch' ? 'watched' : (row.verdict ?? row.state);
}

const SIGNS: Record<string, string> = {
  pass: '✓',
  fail: '✗',
  invalid: '?',
  interrupted: '■',
  running: '▶',
  watched: '●',
  cut_off: '!',
  unreadable: '!',
};
const MOODS: Record<string, string> = {
  pass: 'good',
  fail: 'bad',
  cut_off: 'bad',
  invalid: 'doubtful',
  interrupted: 'doubtful',
};

function verdict(row: RunRow): Node {
  const result = outcomeOf(row);
  const shown = text().state[result as keyof ReturnType<typeof text>['state']] ?? result;
  const element = h('span', { class: MOODS[result] ?? 'neutral' });
  append(element, [`${SIGNS[result] ?? '–'} ${shown}`]);
  return element;
}

/** The first reason; how many more there are, and in its title all of them. */
function reasons(row: RunRow): Node {
  const [first, ...more] = row.reasons ?? [];
  if (first === undefined) return h('span', {}, NONE);
  const title = more.length > 0 ? row.reasons?.map(reason => said(reason).text).join('\n') : undefined;
  return h('span', { title }, sentence(first), more.length > 0 ? ` ${text().library.more(count(more.length))}` : '');
}

function words(row: RunRow): string {
  const result = outcomeOf(row);
  const shown = text().state[result as keyof ReturnType<typeof text>['state']] ?? '';
  return [row.id, row.name, row.language, row.state, result, shown, ...(row.reasons ?? [])].join(' ').toLowerCase();
}
