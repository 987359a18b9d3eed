// What kills came to, as text. Pure.
import { number } from '../../../bench/lib/markdown.mjs';
import { KINDS } from './kills.mjs';

const COUNTS = ['acknowledged', 'refused', 'owed', 'replayed', 'lost', 'duplicate'];
const COUNTED = ['acknowledged', 'refused or unanswered', 'copies owed', 'replayed', 'lost', 'duplicates'];

/** Kinds that were not run this time keep their rows, those never run have none. */
export const TABLE = {
  head: ['killed', 'transport', 'runs passed', ...COUNTED],
  right: COUNTED,
  order: KINDS.map(({ says }) => says),
};

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
