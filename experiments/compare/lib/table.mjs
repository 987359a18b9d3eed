// What pairs came to, as text, and whether that is what is wanted.
import { median } from '../../../bench/lib/statistics.mjs';

/** No more than this share of identical pairs may be called different, and no less than that of planted ones. */
export const DIFFERENT_AT_MOST = 0.05;
export const CALLED_AT_LEAST = 0.9;

const isDifferent = ({ verdict }) => verdict === 'better' || verdict === 'worse';
/** A slower B is worse, a slower A makes B better. */
const isRight = ({ verdict, slow }) => verdict === (slow === 'b' ? 'worse' : 'better');

/** One pair in a line. */
export function told(name, number, { error, verdict, slow, others, left_out, load, took_s, ...figures }) {
  if (error) return `${name} ${number}: FAILED: ${error}`;
  const parts = [
    `${name} ${number}: ${verdict.toUpperCase()}`,
    slow && ` (${slow.toUpperCase()} is the slower one)`,
    `: ${ratios(figures)}`,
    others.length > 0 && `; besides: ${others.join(', ')}`,
    left_out > 0 && `; ${left_out} runs left out`,
    `; load ${load.toFixed(1)}, ${took_s} s`,
  ];
  return parts.filter(Boolean).join('');
}

function ratios({ ratio, interval, spread, truth }) {
  if (!Number.isFinite(ratio)) return 'no ratio';
  const [low, high] = (interval ?? []).map((end) => end.toFixed(3));
  const services = truth === undefined ? '' : `, by the services' clocks ${truth.toFixed(3)}`;
  return `B ÷ A ${ratio.toFixed(3)} (${low}–${high}), runs vary by ${percent(spread)}${services}`;
}

/** What is wanted of the pairs of all kinds: `[{ what, count, of, isMet }]`. One without a verdict is not as wanted. */
export function judged(results) {
  const pairs = (wants) => results.filter(({ kind }) => kind.slower > 1 === wants).flatMap(({ pairs }) => pairs);
  const [same, planted] = [pairs(false), pairs(true)];
  const broken = [...same, ...planted].filter(({ error, verdict }) => error || verdict === 'not_comparable');
  const claims = [];
  const claim = (what, count, of, isMet) => of > 0 && claims.push({ what, count, of, isMet });
  const different = same.filter(isDifferent).length;
  claim('identical pairs called different', different, same.length, different <= DIFFERENT_AT_MOST * same.length);
  const right = planted.filter(isRight).length;
  claim('planted changes called', right, planted.length, right >= CALLED_AT_LEAST * planted.length);
  claim('pairs that could not be compared', broken.length, same.length + planted.length, broken.length === 0);
  return claims;
}

const HEAD = [
  ...['pairs of', 'pairs', 'runs a side', 'BETTER or WORSE', 'the right way', 'SAME', 'INCONCLUSIVE', 'not compared'],
  ...['B ÷ A', 'by the services', 'runs vary by', 'other figures called', 'runs left out', 'machine load'],
];

/** The table, and the verdict on it. */
export function markdown(results, { runs }) {
  const rows = results.filter(({ pairs }) => pairs.length > 0).map((result) => row(result, runs));
  const lines = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const word = (isMet) => (isMet ? 'as wanted' : 'NOT as wanted');
  const said = ({ what, count, of, isMet }) => `- ${what}: ${count} of ${of} (${word(isMet)})`;
  return [...lines, '', ...judged(results).map(said)].join('\n');
}

function row({ kind, pairs }, runs) {
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
    of('spread').length > 0 ? `${percent(median(of('spread')))} (${range(of('spread'), percent)})` : '',
    `in ${count(({ others }) => others.length > 0)} pairs`,
    sum('left_out'),
    range(of('load'), (load) => load.toFixed(1)),
  ];
}

const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '-');
const range = (figures, shown) =>
  figures.length === 0 ? '' : `${shown(Math.min(...figures))}–${shown(Math.max(...figures))}`;
