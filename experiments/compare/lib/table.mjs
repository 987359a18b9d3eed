// What pairs came to, as text, and whether that is what is wanted.
import { median } from '../../../bench/lib/statistics.mjs';
import { markdown, percent, range } from '../../../bench/lib/markdown.mjs';
import { KINDS } from './kinds.mjs';

/** No more than this share of identical pairs may be called different, and no less than that of planted ones. */
export const DIFFERENT_AT_MOST = 0.05;
export const CALLED_AT_LEAST = 0.9;

const isDifferent = ({ verdict }) => verdict === 'better' || verdict === 'worse';
/** A slower B is worse, a slower A makes B better. */
const isRight = ({ verdict, slow }) => verdict === (slow === 'b' ? 'worse' : 'better');

/** One pair in a line. */
export function told(name, number, pair) {
  if (pair.error) return `${name} ${number}: FAILED: ${pair.error}`;
  const { verdict, slow, others, left_out, again, stolen, load, took_s } = pair;
  const parts = [
    `${name} ${number}: ${verdict.toUpperCase()}`,
    slow && ` (${slow.toUpperCase()} is the slower one)`,
    `: ${ratios(pair)}`,
    others.length > 0 && `; besides: ${others.join(', ')}`,
    left_out > 0 && `; ${left_out} runs left out`,
    again > 0 && `; ${again} runs made again`,
    `; ${percent(stolen)} stolen, load ${load.toFixed(1)}, ${took_s} s`,
  ];
  return parts.filter(Boolean).join('');
}

function ratios({ ratio, interval, spread, truth }) {
  if (!Number.isFinite(ratio)) return 'no ratio';
  const [low, high] = (interval ?? []).map((end) => end.toFixed(3));
  const services = truth === undefined ? '' : `, by the services' clocks ${truth.toFixed(3)}`;
  return `B ÷ A ${ratio.toFixed(3)} (${low}–${high}), runs vary by ${percent(spread)}${services}`;
}

/** Kinds whose pairs were not made this time keep their row. */
export const TABLE = {
  head: [
    ...['pairs of', 'pairs', 'runs a side', 'BETTER or WORSE', 'the right way', 'SAME', 'INCONCLUSIVE', 'not compared'],
    ...['B ÷ A', 'by the services', 'runs vary by', 'other figures called', 'runs left out', 'made again', 'stolen'],
    ...['machine load', 'measured with'],
  ],
  order: Object.values(KINDS).map(({ about }) => about),
};

/**
 * What is wanted of the pairs in the rows of a table, read from a page or made now: `[{ what, count, of, isMet }]`. A pair
 * without a verdict is not as wanted.
 */
export function judged(rows) {
  const figures = rows.map((row) => Object.fromEntries(TABLE.head.map((name, at) => [name, row[at]])));
  const sum = (some, name) => some.reduce((sum, figures) => sum + Number(figures[name]), 0);
  const isPlanted = (figures) => figures['the right way'] !== '';
  const [same, planted] = [figures.filter((figures) => !isPlanted(figures)), figures.filter(isPlanted)];
  const claims = [];
  const claim = (what, count, of, isMet) => of > 0 && claims.push({ what, count, of, isMet });
  const [different, twins] = [sum(same, 'BETTER or WORSE'), sum(same, 'pairs')];
  claim('identical pairs called different', different, twins, different <= DIFFERENT_AT_MOST * twins);
  const [right, changes] = [sum(planted, 'the right way'), sum(planted, 'pairs')];
  claim('planted changes called', right, changes, right >= CALLED_AT_LEAST * changes);
  const broken = sum(figures, 'not compared');
  claim('pairs that could not be compared', broken, twins + changes, broken === 0);
  return claims;
}

/** The table, and the verdict on it. */
export function page(rows) {
  const word = (isMet) => (isMet ? 'as wanted' : 'NOT as wanted');
  const said = ({ what, count, of, isMet }) => `- ${what}: ${count} of ${of} (${word(isMet)})`;
  return [markdown(TABLE, rows), '', ...judged(rows).map(said)].join('\n');
}

/** The cells of each kind of which there are pairs; `where` says what they were measured with. */
export const rowsOf = (results, made) =>
  results.filter(({ pairs }) => pairs.length > 0).map((result) => rowOf(result, made));

function rowOf({ kind, pairs }, { runs, where }) {
  const whole = pairs.filter(({ error }) => !error);
  const count = (is) => whole.filter(is).length;
  const of = (figure) => whole.map((pair) => pair[figure]).filter(Number.isFinite);
  const broken = pairs.length - count(({ verdict }) => verdict !== 'not_comparable');
  const sum = (figure) => whole.reduce((sum, pair) => sum + pair[figure], 0);
  return [
    kind.about,
    pairs.length,
    runs,
    count(isDifferent),
    kind.slower > 1 ? count(isRight) : '',
    count(({ verdict }) => verdict === 'same'),
    count(({ verdict }) => verdict === 'inconclusive'),
    broken,
    range(of('ratio'), (ratio) => ratio.toFixed(3)),
    range(of('truth'), (ratio) => ratio.toFixed(3)),
    shares(of('spread')),
    `in ${count(({ others }) => others.length > 0)} pairs`,
    sum('left_out'),
    sum('again'),
    shares(of('stolen')),
    range(of('load'), (load) => load.toFixed(1)),
    where,
  ];
}

/** The median of shares, and their range. */
const shares = (all) => (all.length > 0 ? `${percent(median(all))} (${range(all, percent)})` : '-');
