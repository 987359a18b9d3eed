// The runs of a matrix side by side: how many held, which value of an axis is best (a row a value with a dot for each of its
// runs, their mean and its interval), and the table of all combinations. All figures and words are the binary's, as
// `sonagi report` prints them; nothing is compared here.

import type { Boot, Choice, Combination, Matrix, Remark, Tried } from '../data/contract';
import { missing, section, sentence } from '../panels/panel';
import { reproduceSection } from '../panels/reproduce';
import { type Column, Table } from '../panels/table';
import { footer, topBar } from '../shell/bar';
import { h } from '../shell/dom';
import { text } from '../text';
import { date, NONE, short } from '../text/format';
import { dots, shown } from './dots';
import { linked } from './links';
import { verdictStrip } from './verdict_strip';

type Put = (...elements: (HTMLElement | null)[]) => void;

/** What is said above the table, in the page's language. */
const SAID = ['take', 'edge'];

export function matrixPage(boot: Boot & { mode: 'matrix' }, put: Put): void {
  const build = () => {
    const t = text().matrix;
    document.title = `${boot.name} · Sonagi`;
    const choices = boot.choices.map((choice, at) => section(`choice-${at}`, titleOf(choice), ...bodyOf(choice)));
    const nothing = choices.length === 0 ? missing(t.nothing, comparing(boot.table.axes[0])) : null;
    const isServed = boot.library ?? false;
    put(
      topBar(boot.name, isServed, build),
      h(
        'main',
        { id: 'matrix' },
        verdict(boot),
        choices.length > 0 ? h('p', { class: 'note' }, t.note) : null,
        choices,
        section('combinations', t.combinations, ...combinations(boot)),
        nothing,
        boot.remarks.length > 0 ? section('remarks', t.remarks, remarks(boot.remarks)) : null,
        reproduceSection(boot.command),
      ),
      footer(false, boot.sonagi),
    );
    document.documentElement.dataset.ready = String(boot.choices.length);
  };
  build();
}

/** What a script says that compares the values of an axis, its own if it has one. */
function comparing(axis?: string): string {
  const matrix = axis ? '' : 'matrix: { pool: [2, 10, 50] }\n';
  return `${matrix}repeat: 5\ncompare: { across: ${axis ?? 'pool'} }`;
}

/** How many runs held their users, or passed where none were asked for, and why the others did not. */
function verdict(matrix: Matrix): HTMLElement {
  const { held, asks_for_users: asksForUsers, headline, others } = matrix.verdict;
  const look = held ? 'pass' : 'fail';
  const { all, notAll } = asksForUsers ? text().matrix.held : text().matrix.passed;
  const word = held ? all : notAll;
  const note = [date(matrix.started), matrix.machine].filter(part => part !== '').join(' · ');
  return verdictStrip({ look, outcome: look, word, headline, beside: others, note: [note] });
}

function combinations({ table, links }: Matrix): HTMLElement[] {
  const t = text().matrix;
  const axes = table.axes.map((axis, at) => ({ key: `axis-${at}`, label: axis, text: true, cell: valueAt(at) }));
  const figures = table.columns.map((title, at) => ({ key: `figure-${at}`, label: title, cell: cellAt(at) }));
  const shown = new Table<Combination>(
    [...axes, ...figures, { key: 'runs', label: t.runsOf, text: true, cell: row => runsOf(row, links) }],
    t.combinations,
    row => (row.held ? '' : 'not-held'),
  );
  shown.update(table.rows);
  return [shown.element, h('p', { class: 'note' }, sentence(table.legend))];
}

const valueAt = (at: number) => (row: Combination) => row.values[at] ?? '';
const cellAt = (at: number) => (row: Combination) => row.cells[at] ?? NONE;

/** The runs of a combination in a word each, with their pages where these are. */
function runsOf(row: Combination, links: Matrix['links']): HTMLElement {
  const said = row.runs.map(({ round, held, word, folder }) => {
    const name = [round, word ?? text().matrix.notRun].filter(part => part !== null).join(' ');
    const mood = held ? 'good' : 'bad';
    return linked(links, folder, name, mood);
  });
  return h(
    'span',
    {},
    said.flatMap((element, at) => (at > 0 ? [' · ', element] : [element])),
  );
}

function remarks(said: Remark[]): HTMLElement {
  const rows = said.map(remark => [h('dt', {}, sentence(remark.label)), h('dd', {}, sentence(remark.sentence))]);
  return h('dl', {}, rows.flat());
}

function titleOf(choice: Choice): string {
  const within = Object.entries(choice.within).map(([axis, value]) => `${axis} ${value}`);
  return [choice.axis, ...within].join(' · ');
}

function bodyOf(choice: Choice): HTMLElement[] {
  const t = text().matrix;
  const { figure, best, take } = choice;
  const more = remarks(choice.remarks.filter(remark => !SAID.includes(remark.label)));
  if (!figure || best === null) return [h('p', { class: 'choice-said' }, sentence(choice.headline)), more];
  const named = (at: number) => `${choice.axis} ${choice.tried[at].value}`;
  const said = [t.best(named(best), figure.name)];
  // What to take comes first where it is another.
  if (take !== null) said[take === best ? 'push' : 'unshift'](t.take(named(take)));
  if (choice.edge) said.push(choice.edge === 'largest' ? t.larger : t.smaller);
  const table = new Table(columns(choice, best), t.runs(figure.name), row =>
    row === choice.tried[best] ? 'best' : '',
  );
  table.update(choice.tried);
  return [h('p', { class: 'choice-said' }, said.join(' ')), table.element, more];
}

function columns(choice: Choice, best: number): Column<Tried>[] {
  const t = text().matrix;
  const name = choice.figure?.name ?? '';
  const top = Math.max(...choice.tried.flatMap(tried => [...tried.runs, tried.interval?.[1] ?? 0]), 0);
  return [
    { key: 'value', label: choice.axis, cell: tried => String(tried.value) },
    { key: 'dots', label: t.each, text: true, cell: tried => dots([tried], top, name) },
    { key: 'mean', label: t.mean, cell: tried => shown(tried.mean, name) },
    {
      key: 'interval',
      label: t.interval,
      cell: tried => (tried.interval ? tried.interval.map(end => shown(end, name)).join(' – ') : NONE),
    },
    { key: 'change', label: t.change, cell: tried => change(tried) },
    { key: 'word', label: t.verdict, text: true, cell: tried => word(tried, tried === choice.tried[best]) },
  ];
}

function change({ against_best: compared }: Tried): string {
  if (!compared) return NONE;
  const { scale, estimate } = compared.effect;
  return scale === 'ratio' ? `× ${short(estimate)}` : `${estimate < 0 ? '−' : '+'} ${short(Math.abs(estimate))}`;
}

function word(tried: Tried, isBest: boolean): HTMLElement {
  const { words } = text().matrix;
  const judgement = isBest ? 'best' : (tried.against_best?.judgement ?? (tried.unjudged ? 'unjudged' : 'none'));
  const mood = { best: 'good', same: 'good', worse: 'bad' }[judgement] ?? 'doubtful';
  return h('span', { class: mood, 'data-judgement': judgement }, words[judgement as keyof typeof words] ?? judgement);
}
