// Holds `sonagi compare` against pairs of real runs: of identical systems, and of two of which one is 10 % slower
// (README.md).
//
//   node experiments/compare/run.mjs                          20 pairs of each kind, ten runs a side
//   ONLY=http-slower PAIRS=2 RUNS=5 FRESH=1 node experiments/compare/run.mjs
//   ONLY=room-same WRITE=1 node experiments/compare/run.mjs     its row alone in README.md; the others stay
//
// Every pair is written down as soon as it is done; started again, it goes on where it was.
import { existsSync } from 'node:fs';
import { ROOT } from '../../bench/lib/cache.mjs';
import { SONAGI, finish } from '../../interop/support/process.mjs';
import { endAllWhenInterrupted } from '../bottlenecks/lib/started.mjs';
import { Kept, fingerprint } from '../lib/kept.mjs';
import { marked, rewrite } from '../lib/marked.mjs';
import { machineLine } from '../lib/measured_on.mjs';
import { merged } from '../../bench/lib/markdown.mjs';
import { KINDS } from './lib/kinds.mjs';
import { pair } from './lib/pair.mjs';
import { TABLE, judged, page, rowsOf, told } from './lib/table.mjs';

const README = new URL('README.md', import.meta.url);
const { ONLY, PAIRS = 20, RUNS = 10, SEED = 1, KEEP, FRESH, WRITE } = process.env;
const { RESULTS = `${ROOT}/.cache/compare/pairs.jsonl` } = process.env;
/** What the results are of, beside the binary: a change of one of these makes all pairs anew. */
const OWN_PARTS = ['work.yml', 'room.yml', 'service.mjs', 'lib/kinds.mjs', 'lib/pair.mjs'];
const PARTS = [...OWN_PARTS, '../lib/stolen.mjs', '../../bench/lib/random.mjs'];
const runs = Number(RUNS);

endAllWhenInterrupted();
if (!existsSync(SONAGI)) {
  throw new Error(`there is no ${SONAGI}\nhint: cargo build --release -p sonagi; SONAGI_BIN=target/release/sonagi`);
}

// A table of other columns is refused at once, and not after hours.
if (WRITE) merged(TABLE, marked(README, 'table'), []);
const version = await versionOf(SONAGI);
const kept = new Kept(RESULTS, { isFresh: Boolean(FRESH) });
const results = [];
for (const [name, kind] of Object.entries(KINDS).filter(([name]) => !ONLY || ONLY.split(',').includes(name))) {
  results.push({ kind: { name, ...kind }, pairs: [] });
}
// The kinds in turn, so that a part of it is a part of each.
for (let number = 1; number <= Number(PAIRS); number += 1) {
  for (const { kind, pairs } of results) pairs.push(await once(kind, number));
}
const rows = rowsOf(results, { runs, where: `${version}; ${machineLine()}` });
console.log(`\n${page(rows)}`);
if (WRITE) rewrite(README, 'table', (text) => page(merged(TABLE, text, rows)));
process.exitCode = judged(rows).every(({ isMet }) => isMet) ? 0 : 1;

/** A pair that is done already, or made now; what goes wrong with one is told and ends none of the others. */
async function once(kind, number) {
  const key = [kind.name, number, runs, SEED, version].join(' ');
  const { result, isOld } = await kept.of(key, async () => {
    const began = Date.now();
    const made = await pair({ kind, number, runs, seed: Number(SEED), keep: KEEP }).catch((error) => ({ error: error.message }));
    return { ...made, took_s: Math.round((Date.now() - began) / 1000) };
  });
  console.log(`${told(kind.name, number, result)}${isOld ? ' (made before)' : ''}`);
  return result;
}

/** What is measured: the binary, and what it is given. Results of another one are not taken for its. */
async function versionOf(program) {
  const { stdout } = await finish(program, ['--version']);
  const parts = PARTS.map((part) => new URL(part, import.meta.url));
  return `${stdout.trim()} ${fingerprint([program, ...parts])}`;
}
