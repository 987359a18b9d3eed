// The differences between two runs, each with the aspect it is of: `requests`, `exit`, `said`, `header NAME`, `counter NAME`,
// `rate NAME`, `summary NAME`, `times NAME`, `report PART`.
import { each, finding, onlyIn } from '../../lib/judge.mjs';
import { alike, asOften } from './figures.mjs';

/**
 * A run is `{code, said, users, choices, figures}` (tools.mjs); `[{aspect, peer, sonagi}]`. Rates are compared with their
 * values, and medians, where requests come evenly, as the case says.
 */
export function differences(artillery, sonagi, { evenly = false } = {}) {
  const { found, put } = finding();
  put('exit', artillery.code, sonagi.code);
  put('said', artillery.said, sonagi.said);
  const [onlyA, onlyB] = onlyIn(artillery.users.map((lines) => lines.join('\n')), sonagi.users.map((lines) => lines.join('\n')));
  if (onlyA.length + onlyB.length > 0) found.push({ aspect: 'requests', peer: onlyA, sonagi: onlyB });
  const [a, b] = [artillery.figures, sonagi.figures];
  each('header', artillery.choices, sonagi.choices, put);
  for (const kind of ['counter', 'summary', 'report']) each(kind, a[kind], b[kind], put);
  each('rate', a.rate, b.rate, (aspect, a, b) => (both(a, b) && (!evenly || asOften(a, b))) || put(aspect, a, b));
  // Summaries that only one has are found by their counts. Of three users one may well meet a tool that is still loading.
  const told = evenly ? ['min', 'median'] : ['min'];
  each('times', a.times, b.times, (aspect, a, b) => !both(a, b) || told.every((name) => alike(a[name], b[name])) || put(aspect, a, b));
  return found;
}

const both = (a, b) => a !== undefined && b !== undefined;

/**
 * True when one tool sent nothing or had to be ended: only then may a script differ in whatever it likes. Two that sent
 * something are compared in all they did.
 */
export const apart = (artillery, sonagi) => [artillery, sonagi].some(({ users, code }) => users.length === 0 || typeof code === 'string') && artillery.users.length + sonagi.users.length > 0;
