// What runs of chat.yml came to, as rows beside those of the report. Pure.
import { percent } from '../../../bench/lib/markdown.mjs';
import { median } from '../../../bench/lib/statistics.mjs';
import { measuredBy, ms, runsOf, sum } from '../../lib/matrix.mjs';
import * as ratio from '../../lib/ratio.mjs';
import { BASE, CRITERIA, REMEDIES } from './remedies.mjs';

/** Fewer sound runs of a remedy have no grade: two differ by chance. */
const RUNS_MIN = 3;

const MEASURED = ['failed users', 'p95 of logins', 'p95 of sessions'];
/** The remedies: a row each, in the order of the report. `here` is our ranking, `score` what it stands on. */
export const REMEDY_TABLE = {
  head: ['remedy', 'the report', 'here', 'score', ...MEASURED, 'impact', ...CRITERIA, 'measured'],
  right: ['the report', 'here', 'score', ...MEASURED],
};

/** The figures of the report's own table. */
export const RATIO_TABLE = ratio.ratioTable(
  [ratio.FAILED_USERS, ratio.FAILED_CONNECTIONS],
  [
    ratio.EMITS,
    ...['mean', 'p95', 'p99'].map(ratio.answers),
    ...['mean', 'p50', 'p95', 'p99'].map(ratio.sessions),
  ],
);

const middle = (summaries, of) => median(summaries.map(of));

const failedOf = ({ users }) => users.failed / users.started;
const loginsOf = ({ operations }) => operations.find(({ name }) => name === 'login').response_ms.p95;
const sessionsOf = ({ users }) => users.session_ms.p95;

/** The environment (`-e`) of a matrix's command; undefined without one. */
export const environmentOf = ({ command }) => command.join(' ').match(/\s(?:-e|--environment)[ =]?(\S+)/)?.[1];

/**
 * How much of the trouble a remedy takes away, by the summaries of runs before and after it: `{ grade, why }`. 3: half of it or
 * more. 2: less. 1: nothing, or it makes it worse. The figure that decides is the first in which all runs of one side lie
 * beyond all of the other: failed users before waiting times, for a host that turns users away answers the others sooner.
 */
export function impact(before, after) {
  if (Math.min(before.length, after.length) < RUNS_MIN) return undefined;
  for (const [name, of] of [['failed users', failedOf], ['logins', loginsOf]]) {
    const [old, now] = [before.map(of), after.map(of)];
    if (Math.max(...now) < Math.min(...old)) return { grade: median(now) <= median(old) / 2 ? 3 : 2, why: name };
    if (Math.min(...now) > Math.max(...old)) return { grade: 1, why: `worse: ${name}` };
  }
  return { grade: 1, why: 'no difference' };
}

/** The measured cells of a remedy, of the sound runs before and after it. */
function measuredCells(before, after) {
  if (after.length === 0) return {};
  const both = (figure) => `${figure(before)} → ${figure(after)}`;
  const failed = (runs) => percent(sum(runs.map(({ users }) => users.failed)) / sum(runs.map(({ users }) => users.started)));
  const found = impact(before, after);
  return {
    'failed users': both(failed),
    'p95 of logins': both((runs) => ms(middle(runs, loginsOf))),
    'p95 of sessions': both((runs) => ms(middle(runs, sessionsOf))),
    impact: found ? `${found.grade} (${found.why})` : '-',
  };
}

/** The measured cells of the remedies that a matrix has runs of, by name. All are held against its own runs of the host as it was. */
function measuredIn(matrix) {
  const before = runsOf(matrix, BASE).sound;
  if (before.length === 0) {
    const axes = Object.entries(BASE).map(([axis, value]) => `${axis} ${value}`);
    throw new Error(`no sound run of the host as it was (${axes.join(', ')}): there is nothing to compare with`);
  }
  const asked = REMEDIES.filter(({ runs }) => runs).map(({ name, runs }) => [name, runsOf(matrix, { ...BASE, ...runs })]);
  const known = asked.filter(([, { made }]) => made.length > 0);
  return new Map(known.map(([name, runs]) => [name, { ...measuredCells(before, runs.sound), measured: measuredBy(matrix, runs) }]));
}

/** A remedy's row by column, but for its rank; `measured` are its measured cells. */
function judged({ name, place = '-', grades, untried }, measured) {
  const impact = Number.parseInt(measured.impact, 10);
  const each = grades ? grades.split(' ') : [];
  // Impact counts twice, as in `sonagi explain`: a remedy that changes little is no remedy, however cheap.
  const score = grades && impact ? 2 * impact + sum(each.map((grade) => Number.parseInt(grade, 10))) : undefined;
  return {
    measured: 'not measured yet',
    ...measured,
    ...(untried && { measured: untried }),
    ...Object.fromEntries(CRITERIA.map((criterion, at) => [criterion, each[at]])),
    remedy: name,
    'the report': place,
    score,
  };
}

/** All rows: what a finished matrix (`matrix.json`) says anew, the rest as it is in the rows that stand on the page. */
export function remedyRows(standing, matrix) {
  const { head } = REMEDY_TABLE;
  const keptCells = (row) => Object.fromEntries([...MEASURED, 'impact', 'measured'].map((name) => [name, row[head.indexOf(name)]]));
  const known = new Map([...standing.map((row) => [row[0], keptCells(row)]), ...measuredIn(matrix)]);
  const all = REMEDIES.map((remedy) => judged(remedy, known.get(remedy.name) ?? {}));
  const better = (score) => all.filter((other) => other.score > score).length;
  const ranked = all.map((row) => ({ ...row, here: row.score && 1 + better(row.score) }));
  return ranked.map((row) => head.map((name) => String(row[name] ?? '-')));
}

/** Our rows of the report's table: of a finished matrix with `-e report`. */
export const ratioRows = (matrix) => ratio.ratioRows(RATIO_TABLE, matrix, { remedy: BASE.remedy, swap: BASE.swap });
