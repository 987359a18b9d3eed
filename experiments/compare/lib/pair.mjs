// One pair: runs of two sides in turn, compared by `sonagi compare`.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { SONAGI, finish } from '../../../interop/support/process.mjs';
import { Started } from '../../bottlenecks/lib/started.mjs';
import { quietest } from '../../lib/stolen.mjs';
import { median } from '../../../bench/lib/statistics.mjs';
import { random, seedOf } from '../../../bench/lib/random.mjs';

/** A run that takes longer than this hangs (ms). */
const OVERDUE_MS = 30_000;
const SIDES = ['a', 'b'];
/** A run is made again while other virtual machines take more than this share of the machine's time. */
const TRIES = { wanted: 1, at_most: 4, share: 0.01 };

/**
 * Makes `runs` runs of each side and compares them; `number` is the pair's. Which side is the slower one, which of a
 * round goes first, and what a service draws: all of it comes of the seed.
 */
export async function pair({ kind, number, runs, seed, keep }) {
  const draw = random(seedOf(seed, number));
  const slow = kind.slower > 1 ? SIDES[Math.floor(draw() * 2)] : undefined;
  const scratch = new Started();
  try {
    const made = { a: [], b: [] };
    for (let round = 0; round < runs; round += 1) {
      for (const side of draw() < 0.5 ? SIDES : SIDES.toReversed()) {
        const own = seedOf(seed, number, round, SIDES.indexOf(side));
        const given = { seed: own, slower: side === slow ? kind.slower : 1 };
        made[side].push(await undisturbed(kind.system, scratch.folder, side, given));
      }
    }
    for (const side of keep ? SIDES : []) {
      cpSync(join(scratch.folder, side), join(keep, `${kind.name}-${number}`, side), { recursive: true });
    }
    const comparison = await compared(kind.system, ...SIDES.map((side) => join(scratch.folder, side)));
    return { ...outcome(comparison), slow, ...circumstances(made), load: loadavg()[0] };
  } finally {
    await scratch.end();
  }
}

/**
 * One run of a side, made again while the machine is not its own; its run folder comes into the folder of the side.
 * What the service itself says of its times, how often it was made `again`, and which share of the time was `stolen`.
 */
async function undisturbed(system, folder, side, given) {
  const { chosen, all } = await quietest(() => run(system, mkdtempSync(join(folder, 'run-')), given), TRIES);
  const [{ result, stolen }] = chosen;
  mkdirSync(join(folder, side), { recursive: true });
  for (const name of readdirSync(result.folder)) renameSync(join(result.folder, name), join(folder, side, name));
  return { truth: result.truth, again: all.length - 1, stolen };
}

/** One run against a service of its own: the folder that has its run folder, and what the service says of its times. */
async function run(system, folder, given) {
  const started = new Started();
  try {
    const { url, truth } = await system.start(started, given);
    const flags = ['--target', url, '--runs', folder, '--seed', given.seed, '--no-watch', '--quiet'];
    const program = started.spawn([SONAGI, 'run', system.script, ...flags]);
    const overdue = setTimeout(() => program.stop('SIGKILL'), OVERDUE_MS);
    const code = await program.ended;
    clearTimeout(overdue);
    // INVALID runs (3) are for `compare` to leave out and to name; they are counted in the table.
    if (code !== 0 && code !== 3) throw new Error(`sonagi run ended with ${code}: ${program.output().slice(-600)}`);
    return { folder, truth: await truth() };
  } finally {
    await started.end();
  }
}

async function compared({ primary }, a, b) {
  if (!existsSync(a) || !existsSync(b)) throw new Error('a side has no runs');
  const { code, stdout, stderr } = await finish(SONAGI, ['compare', a, '--primary', primary, '--json', '--', b]);
  if (!stdout.startsWith('{')) throw new Error(`sonagi compare ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** What is kept of a comparison. */
function outcome({ verdict, primary, others, left_out, failed, mismatches }) {
  const isCalled = ({ judgement }) => ['better', 'worse', 'higher', 'lower'].includes(judgement);
  return {
    verdict,
    ratio: primary?.effect.estimate,
    interval: primary?.effect.interval,
    spread: primary?.effect.spread,
    figure: primary?.means,
    runs: primary?.runs.map((figures) => figures.length),
    others: others.filter(isCalled).map(({ name }) => name),
    left_out: left_out.length,
    failed: failed[0] + failed[1],
    mismatches: mismatches.map(({ what }) => what),
  };
}

/** What beside the comparison is told of a pair's runs. */
function circumstances(made) {
  const all = SIDES.flatMap((side) => made[side]);
  const sum = (figure) => all.reduce((sum, one) => sum + one[figure], 0);
  return { truth: ratioOf(made), again: sum('again'), stolen: sum('stolen') / all.length };
}

/** B's p99 over A's by the services' own clocks, of medians over the runs; undefined where they say nothing. */
function ratioOf({ a, b }) {
  const middle = (side) => median(side.map(({ truth }) => truth?.p99_ms).filter(Number.isFinite));
  return a[0]?.truth && b[0]?.truth ? middle(b) / middle(a) : undefined;
}
