// What kills came to, as text. Pure.
import { KINDS } from './kills.mjs';

const COUNTS = ['acknowledged', 'refused', 'owed', 'replayed', 'lost', 'duplicate'];
const COUNTED = ['acknowledged', 'refused or unanswered', 'copies owed', 'replayed', 'lost', 'duplicates'];
const HEAD = ['killed', 'transport', 'runs passed', ...COUNTED];
const number = (value) => Math.round(value).toLocaleString('en');

/** A run in a line. */
export function line(kind, { round, transport, figures, seen, verdict, why }) {
  const { acknowledged, refused, reconnects, owed, replayed, lost, duplicate } = figures;
  const which = `${kind.name.padEnd(8)} round ${round + 1} ${transport.padEnd(8)} ${verdict}${why ? ` (${why})` : ''}`;
  const said = `${acknowledged} acknowledged, ${refused} not; ${owed} copies owed, ${replayed} replayed`;
  const away = seen ? `${reconnects} reconnects, ${seen.part} away for ${number(seen.down_ms)} ms` : 'no kill';
  return `${which}: ${said}, ${lost} lost, ${duplicate} duplicates; ${away}`;
}

/** The cells of each transport, sums over its runs. Runs that failed or show nothing stand beside those that passed. */
export function rowsOf({ kind, runs }) {
  const transports = [...new Set(runs.map(({ transport }) => transport))];
  return transports.map((transport) => {
    const own = runs.filter((run) => run.transport === transport);
    const count = (wanted) => own.filter(({ verdict }) => verdict === wanted).length;
    const sum = (name) => number(own.reduce((sum, { figures }) => sum + figures[name], 0));
    const beside = ['failed', 'void'].filter((verdict) => count(verdict) > 0);
    const others = beside.length > 0 ? ` (${beside.map((verdict) => `${count(verdict)} ${verdict}`).join(', ')})` : '';
    return [kind.says, transport, `${count('passed')} of ${own.length}${others}`, ...COUNTS.map(sum)];
  });
}

/** Lines of Markdown. */
export function table(rows) {
  const aligned = HEAD.map((_, at) => (at < 3 ? '---' : '--:'));
  return [HEAD, aligned, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** The table of a page with new rows: kinds that were not run this time keep theirs, those never run have none. */
export function merged(text, rows) {
  const old = text.split('\n').filter((row) => row.startsWith('| ')).map((row) => row.slice(2, -2).split(' | '));
  const ofKind = ({ says }) => {
    const fresh = rows.filter(([kind]) => kind === says);
    return fresh.length > 0 ? fresh : old.filter(([kind]) => kind === says);
  };
  return table(KINDS.flatMap(ofKind)).join('\n');
}
