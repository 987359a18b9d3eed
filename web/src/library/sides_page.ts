// Two sides of runs compared: the word, then each figure with a dot for each run of both sides on one scale. Figures and words
// are the binary's, as `sonagi compare` prints them.

import type { Boot, ComparedFigure, Sides } from '../data/contract';
import { section, sentence } from '../panels/panel';
import { type Column, Table } from '../panels/table';
import type { Outcome } from '../panels/verdict';
import { footer, topBar } from '../shell/bar';
import { h } from '../shell/dom';
import { text } from '../text';
import { date } from '../text/format';
import { said } from '../text/sentences';
import { dots } from './dots';
import { verdictStrip } from './verdict_strip';

type Put = (...elements: (HTMLElement | null)[]) => void;

const LOOKS: Record<Sides['mood'], Outcome> = { good: 'pass', bad: 'fail', doubtful: 'invalid' };
const MOODS: Record<string, string> = { better: 'good', same: 'good', worse: 'bad' };

export function sidesPage(boot: Boot & { mode: 'sides' }, put: Put): void {
  const build = () => {
    const t = text().sides;
    const [a, b] = boot.sides.map(side => side.label);
    const title = t.title(a, b);
    document.title = `${title} · Sonagi`;
    put(
      topBar(title, boot.library ?? false, build),
      h('main', { id: 'sides' }, verdict(boot), boot.rows.length > 0 ? figures(boot) : null, remarks(boot)),
      footer(false, boot.sonagi),
    );
    document.documentElement.dataset.ready = String(boot.rows.length);
  };
  build();
}

function verdict({ mood, word, headline, sides, started, verdict }: Sides): HTMLElement {
  const runs = sides.map(({ label, runs }) => text().sides.runs(label, runs));
  const note = [[...runs, date(started)].join(' · ')];
  return verdictStrip({ look: LOOKS[mood], outcome: verdict, word: said(word).text, headline, beside: [], note });
}

function figures(sides: Sides): HTMLElement {
  const t = text().sides;
  const table = new Table(columns(sides), t.figures, row => (row === sides.rows[0] ? 'best' : ''));
  table.update(sides.rows);
  const [a, b] = sides.sides.map(side => side.label);
  return section('figures', t.figures, h('p', { class: 'note' }, t.note(a, b)), table.element);
}

function columns({ sides: [a, b] }: Sides): Column<ComparedFigure>[] {
  const t = text().sides;
  return [
    { key: 'figure', label: t.figure, text: true, cell: row => row.name },
    { key: 'dots', label: text().matrix.each, text: true, cell: runsOf },
    { key: 'a', label: a.label, cell: row => row.shown[0] },
    { key: 'b', label: b.label, cell: row => row.shown[1] },
    { key: 'change', label: t.change(a.label, b.label), cell: row => row.change },
    { key: 'interval', label: text().matrix.interval, cell: row => row.interval },
    { key: 'word', label: text().matrix.verdict, text: true, cell: word },
  ];
}

function runsOf({ runs, means, name }: ComparedFigure): SVGElement | string {
  const lanes = runs.map((of, side) => ({ runs: of, mean: means[side], interval: null }));
  return dots(lanes, Math.max(...runs.flat(), 0), name);
}

function word({ judgement }: ComparedFigure): HTMLElement {
  const { words } = text().sides;
  const shown = words[judgement as keyof typeof words] ?? judgement;
  return h('span', { class: MOODS[judgement] ?? 'doubtful', 'data-judgement': judgement }, shown);
}

function remarks({ remarks }: Sides): HTMLElement | null {
  if (remarks.length === 0) return null;
  const rows = remarks.map(({ label, sentence: told }) => [
    h('dt', {}, label === '' ? '' : sentence(label)),
    h('dd', {}, sentence(told)),
  ]);
  return section('remarks', text().matrix.remarks, h('dl', {}, rows.flat()));
}
