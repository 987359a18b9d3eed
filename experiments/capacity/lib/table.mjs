// What searches for planted limits came to, as text.
import { median } from '../../../bench/lib/statistics.mjs';
import { percent, range } from '../../../bench/lib/markdown.mjs';

/** A row of other limits, or with trials of another length, stays when some are searched for again. */
export const TABLE = {
  head: [
    ...['limit', 'length of a trial', 'truth', 'searches', 'hold the truth', 'brackets', 'width', 'trials', 'trial time', 'took'],
    ...['machine load', 'measured with'],
  ],
  keyOf: ([name, trial]) => `${name} ${trial}`,
};

/** Whether a search ended with a bracket, and the truth is in it. */
export const isHeld = ({ truth }, { end, low, high }) => end === 'bracket' && low !== null && low <= truth && truth <= high;

const bracket = ({ low, high }) => `${low ?? '-'}–${high ?? '-'}`;
const widthOf = ({ low, high }) => (low && high ? 1 - low / high : NaN);
const seconds = (s) => `${s.toFixed(0)} s`;

/** One search in a line. */
export function told(name, limit, search) {
  if (search.error) return `${name}: FAILED: ${search.error}`;
  const word = isHeld(limit, search) ? 'holds' : `does NOT hold (${search.end})`;
  const { trials, trial_s, took_s } = search;
  return `${name}: ${bracket(search)} ${word} ${limit.truth}; ${percent(widthOf(search))} wide, ${trials} trials of ${seconds(trial_s)}, took ${seconds(took_s)}`;
}

/** The cells of a limit's row. What failed is a search that does not hold the truth. */
export function rowOf(name, limit, searches, { trial, where }) {
  const whole = searches.filter(({ error }) => !error);
  const of = (figure) => (whole.length > 0 ? seconds(median(whole.map((search) => search[figure]))) : '-');
  const spread = (figure, shown) => range(whole.map(figure), shown);
  return [
    name,
    trial,
    `${limit.truth}`,
    `${searches.length}`,
    `${searches.filter((search) => isHeld(limit, search)).length}`,
    counted(whole.map(bracket)),
    spread(widthOf, percent),
    spread(({ trials }) => trials, String),
    of('trial_s'),
    of('took_s'),
    spread(({ load }) => load, (load) => load.toFixed(1)),
    where,
  ];
}

/** Texts with how often each is there, the most frequent first. */
function counted(texts) {
  const times = new Map();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return [...times].sort(([, a], [, b]) => b - a).map(([text, n]) => (n === 1 ? text : `${text} (${n} times)`)).join(', ') || '-';
}
