// What a load came to on a small host and without limits, and how one stands to the other, as rows beside a report's
// own: of matrices with the axes `service` and `host` (000 and 002). Pure.
import { number } from '../../bench/lib/markdown.mjs';
import { median } from '../../bench/lib/statistics.mjs';
import { measuredBy, ms, runsOf, short, sum } from './matrix.mjs';

const SERVICES = [['nest', 'NestJS'], ['sonagi', 'sonagi serve']];
const SMALL = 't2.micro';
/** Values of the axis `host`, in the order of their rows. */
const HOSTS = [[SMALL, SMALL], ['none', 'without limits']];

const kindOf = ({ kinds }, name) => kinds.find(({ kind }) => kind === name);

/** What is counted over all runs: a name, and `[failed, all]` of a run's summary. */
export const FAILED_USERS = ['failed users', ({ users }) => [users.failed, users.started]];
export const FAILED_CONNECTIONS = ['failed connections', failedConnections];
/** Figures: a name, the figure of a run's summary, and how it is shown. */
export const EMITS = ['emits a second', emits, short];
export const answers = (name) => [`answers: ${name}`, (summary) => kindOf(summary, 'http')?.response_ms[name], ms];
export const sessions = (name) => [`sessions: ${name}`, ({ users }) => users.session_ms?.[name], ms];

function failedConnections(summary) {
  const { failed = 0, count = 0 } = kindOf(summary, 'socketio_connect') ?? {};
  return [failed, count];
}

function emits({ kinds }) {
  const ofEmits = kinds.filter(({ kind }) => ['socketio_emit', 'socketio_request'].includes(kind));
  return sum(ofEmits.map(({ rate_per_s }) => rate_per_s));
}

/** The table of such counts and figures. */
export function ratioTable(counts, figures) {
  const names = [...counts, ...figures].map(([name]) => name);
  const head = ['whose', ...names, 'measured'];
  return { head, right: head.slice(1, -1), counts, figures };
}

/** Our rows of a finished matrix, three a service: either host, medians over its sound runs, and their ratio. */
export function ratioRows(table, matrix, wanted = {}) {
  const has = ([service]) => runsOf(matrix, { ...wanted, service }).made.length > 0;
  return SERVICES.filter(has).flatMap(([service, name]) => {
    const runs = HOSTS.map(([host]) => runsOf(matrix, { ...wanted, service, host }));
    const missing = HOSTS.filter((_, at) => runs[at].made.length === 0).map(([host]) => `host ${host}`);
    if (missing.length > 0) throw new Error(`a ratio is of runs of one matrix, and this one has none of ${missing}`);
    const row = (shown, own) => [`here: ${name}, ${shown}`, ...cells(table, own.sound), measuredBy(matrix, own)];
    const ratio = [`here: ${name}, ratio`, ...ratioCells(table, runs), 'of these two'];
    return [...HOSTS.map(([, shown], at) => row(shown, runs[at])), ratio];
  });
}

const middle = (summaries, of) => median(summaries.map(of).filter(Number.isFinite));

function cells({ counts, figures }, summaries) {
  if (summaries.length === 0) return [...counts, ...figures].map(() => '-');
  const total = (of) => [0, 1].map((at) => number(sum(summaries.map((summary) => of(summary)[at]))));
  const figure = (value, shown) => (value === undefined ? '-' : shown(value));
  return [
    ...counts.map(([, of]) => total(of).join(' of ')),
    ...figures.map(([, of, shown]) => figure(middle(summaries, of), shown)),
  ];
}

function ratioCells({ counts, figures }, [small, free]) {
  const ratio = ([, of]) => middle(small.sound, of) / middle(free.sound, of);
  const shown = (value) => (Number.isFinite(value) ? `${short(value)} ×` : '-');
  return [...counts.map(() => '-'), ...figures.map((figure) => shown(ratio(figure)))];
}
