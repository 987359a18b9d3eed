// How much a target holds: the answer, every trial in charts of load against latency and against delivery, and the
// curve as a table. Figures and words are the binary's, as `sonagi report` prints them. While the search goes on, the
// page asks for them again.

import type { Boot, Capacity, CapacityTrial } from '../data/contract';
import { missing, section, sentence } from '../panels/panel';
import { reproduceSection } from '../panels/reproduce';
import { Table } from '../panels/table';
import type { Outcome } from '../panels/verdict';
import { footer, topBar } from '../shell/bar';
import { h } from '../shell/dom';
import { language, text } from '../text';
import { date, milliseconds, NONE, share } from '../text/format';
import { said } from '../text/sentences';
import { deliveryChart, latencyChart } from './capacity_chart';
import { linked } from './links';
import { verdictStrip } from './verdict_strip';

type Put = (...elements: (HTMLElement | null)[]) => void;

/** How often a search under way is looked at. */
const AGAIN_MS = 1_000;

/** The looks of verdicts of runs. */
const LOOKS: Record<Capacity['mood'], Outcome> = { good: 'pass', bad: 'fail', doubtful: 'invalid', running: 'running' };

export function capacityPage(boot: Boot & { mode: 'capacity' }, put: Put): void {
  let search: Capacity = boot;
  let tables: Tables | null = null;
  const build = () => {
    // Tables stay as the reader has sorted them, until their columns are others.
    if (tables?.of !== headsOf(search)) tables = tablesOf(search);
    tables.curve.update(search.rows);
    tables.trials.update(search.trials.map((trial, at) => ({ ...trial, number: at + 1, links: search.links })));
    document.title = `${search.name} · Sonagi`;
    put(
      topBar(search.name, boot.library ?? false, build),
      h(
        'main',
        { id: 'capacity' },
        verdict(search),
        ...(search.trials.length > 0 ? figures(search, tables) : nothing()),
        reproduceSection(search.command),
      ),
      footer(false, search.sonagi),
    );
    document.documentElement.dataset.ready = String(search.trials.length);
  };
  const again = async () => {
    const answer = await fetch(`/api${location.pathname}`).catch(() => null);
    if (answer?.ok) {
      const known = search;
      search = (await answer.json()) as Capacity;
      // Nothing is drawn anew while nothing has come of the next trial.
      if (search.trials.length !== known.trials.length || search.is_over) build();
    }
    if (!search.is_over) setTimeout(() => void again(), AGAIN_MS);
  };
  build();
  if (boot.library && !search.is_over) void again();
}

const nothing = () => [missing(text().capacity.nothing)];

function verdict(search: Capacity): HTMLElement {
  const t = text().capacity;
  const { mood } = search;
  // The verdict of a search under way says that it has none.
  const [headline, beside] = mood === 'running' ? [search.known, []] : [search.verdict, search.beside];
  const note = [t.until(search.until), ' · ', sentence(search.budget), ' · ', date(search.started)];
  return verdictStrip({ look: LOOKS[mood], outcome: mood, word: t.words[mood], headline, beside, note });
}

type Numbered = CapacityTrial & { number: number; links: Capacity['links'] };

interface Tables {
  /** Heads of what they show, in their language. */
  of: string;
  curve: Table<Capacity['rows'][number]>;
  trials: Table<Numbered>;
}

const headsOf = (search: Capacity) => [language(), ...search.columns].join();

const tablesOf = (search: Capacity): Tables => ({ of: headsOf(search), curve: curve(search), trials: trials(search) });

function figures(search: Capacity, tables: Tables): HTMLElement[] {
  const t = text().capacity;
  const { recovered } = search;
  const delivery = deliveryChart(search);
  const title = delivery ? t.curve.withDelivery : t.curve.ofLatency;
  const charts = [titled('p99', latencyChart(search)), delivery && titled(t.delivered, delivery)];
  return [
    section('curve', title, ...charts, h('p', { class: 'note' }, t.chartNote), tables.curve.element),
    section('trials', t.trials, tables.trials.element),
    ...(recovered.length > 0
      ? [section('recovery', t.recovery, ...recovered.map(line => h('p', {}, sentence(line))))]
      : []),
  ];
}

const titled = (title: string, chart: SVGElement) => h('figure', {}, h('h3', {}, title), chart);

function curve(search: Capacity): Tables['curve'] {
  const t = text().capacity.curve;
  const delivers = search.trials.some(trial => trial.delivered !== null);
  const [load, ...figures] = search.columns.map(title => said(title).text);
  return new Table<Capacity['rows'][number]>(
    [
      { key: 'load', label: load, cell: row => row.load },
      ...figures.map((title, at) => ({ key: title, label: title, cell: cellAt(at) })),
      { key: 'verdict', label: text().matrix.verdict, text: true, cell: row => said(row.verdict).text },
    ],
    delivers ? t.withDelivery : t.ofLatency,
  );
}

const cellAt = (at: number) => (row: Capacity['rows'][number]) => row.cells[at] ?? NONE;

function trials(search: Capacity): Tables['trials'] {
  const t = text().capacity;
  const mood = { held: 'good', missed: 'bad', unreliable: 'doubtful', stolen: 'doubtful' };
  const word = (trial: Numbered) => linked(trial.links, trial.folder, t.outcomes[trial.outcome], mood[trial.outcome]);
  return new Table<Numbered>(
    [
      { key: 'number', label: t.trial, cell: trial => String(trial.number), by: trial => trial.number },
      { key: 'load', label: said(search.columns[0]).text, cell: trial => trial.name, by: trial => trial.load },
      { key: 'length', label: t.length, cell: trial => trial.length },
      { key: 'outcome', label: text().matrix.verdict, text: true, cell: word },
      { key: 'p50', label: 'p50', cell: trial => milliseconds(trial.p50_ms), by: trial => trial.p50_ms },
      { key: 'p99', label: 'p99', cell: trial => milliseconds(trial.p99_ms), by: trial => trial.p99_ms },
      { key: 'delivered', label: t.delivered, cell: trial => share(trial.delivered), by: trial => trial.delivered },
      { key: 'evidence', label: t.evidence, text: true, cell: trial => said(trial.evidence).text },
    ],
    t.trials,
  );
}
