// What runs of report.yml came to, and searches with it, as rows beside those of the report. Pure.
import { median } from '../../../bench/lib/statistics.mjs';
import { number } from '../../../bench/lib/markdown.mjs';
import { counted, isSound, measuredOn, ms, sum } from '../../lib/matrix.mjs';

const TIMES = ['mean', 'p50', 'p95', 'p99', 'max'];

/** A matrix of pools: a row a pool. */
export const POOLS = { head: ['whose', 'pool', 'failed users', 'answers of 500', ...TIMES, 'session p50', 'measured'] };
POOLS.right = POOLS.head.slice(1, -1);

/** Searches for the largest load: a row for each end of a bracket, of searches that ask for the same. */
export const LOADS = {
  head: ['whose', 'asked', 'users a second', 'time-outs', 'answers of 500', 'p50', 'p95', 'p99', 'measured'],
  right: ['users a second', 'time-outs', 'answers of 500', 'p50', 'p95', 'p99'],
  keyOf: ([whose, asked]) => `${whose} ${asked}`,
};

const share = (count, of) => (count === 0 ? '0' : `${number(count)} of ${number(of)}`);

const timesOf = ({ kinds }) => kinds.find(({ kind }) => kind === 'http').response_ms;
const answersOf = ({ http_codes }) => sum(Object.values(http_codes));
const refusedOf = ({ http_codes }) => http_codes['500'] ?? 0;
const timeoutsOf = ({ errors }) =>
  sum(errors.filter(({ code }) => ['timeout', 'connect_timeout'].includes(code)).map(({ count }) => count));

/** The rows of a finished matrix (`matrix.json`): medians over the sound runs of each pool; of maxima the greatest. */
export function poolRows(matrix) {
  const runs = counted(matrix);
  const pools = [...new Set(runs.map(({ combination }) => combination.pool))];
  return pools.map((pool) => {
    const own = runs.filter(({ combination }) => combination.pool === pool);
    const sound = own.map(({ summary }) => summary).filter(isSound);
    return [`here: ${pool}`, number(pool), ...poolCells(sound), measuredOn(matrix, sound, own)];
  });
}

function poolCells(summaries) {
  if (summaries.length === 0) return Array(POOLS.head.length - 3).fill('-');
  const total = (of) => sum(summaries.map(of));
  const middle = (of) => ms(median(summaries.map(of)));
  const max = Math.max(...summaries.map((summary) => timesOf(summary).max));
  return [
    share(total(({ users }) => users.failed), total(({ users }) => users.started)),
    share(total(refusedOf), total(answersOf)),
    ...TIMES.slice(0, -1).map((name) => middle((summary) => timesOf(summary)[name])),
    ms(max),
    middle(({ users }) => users.session_ms.p50),
  ];
}

/** The rows of a search (`capacity.json`); `runOf(folder)` is what a trial's `run.json` has. */
export function loadRows({ command, version, started, until, found, trials }, runOf) {
  const pool = command.join(' ').match(/\bpool=(\d+)/)?.[1];
  return [['holds', found.lower], ['does not', found.upper]].map(([word, end]) => {
    const whose = `here: ${number(pool)} ${word}`;
    if (!end) return [whose, until, 'none confirmed', ...Array(LOADS.head.length - 3).fill('-')];
    const [worst] = trials.filter(({ load }) => load === end.load).toSorted((a, b) => b.p99_ms - a.p99_ms);
    const { header, summary } = runOf(worst.folder);
    const { cpus, cpu, kernel } = header.environment;
    const counted = `${end.agreeing} of ${end.trials} trials, the worst one of ${Math.round(worst.seconds)} s`;
    return [
      whose,
      until,
      number(end.load),
      share(timeoutsOf(summary), sum(summary.kinds.map(({ count }) => count))),
      share(refusedOf(summary), answersOf(summary)),
      ...['p50', 'p95', 'p99'].map((name) => ms(timesOf(summary)[name])),
      `${counted}, Sonagi ${version}, ${started.slice(0, 10)}, ${cpus} cores of ${cpu}, kernel ${kernel}`,
    ];
  });
}
