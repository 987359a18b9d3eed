// Holds `sonagi capacity` against services with planted limits (README.md).
//
//   node experiments/capacity/run.mjs                 every limit once
//   ONLY=bucket500,pool RUNS=20 TRIAL=20s WIDTH=5% node experiments/capacity/run.mjs
//   ONLY=bucket500,pool,room AT_ONCE=3 WRITE=1        several searches side by side; the table goes into README.md
//
// Every search is written down as soon as it is done; started again, it goes on where it was (FRESH=1: from the beginning).
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { ROOT } from '../../bench/lib/cache.mjs';
import { commit } from '../../bench/lib/machine.mjs';
import { SONAGI } from '../../interop/support/process.mjs';
import { Kept, fingerprint } from '../lib/kept.mjs';
import { marked, rewrite } from '../lib/marked.mjs';
import { machineLine } from '../lib/measured_on.mjs';
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { found } from './lib/search.mjs';
import { TABLE, isHeld, rowOf, told } from './lib/table.mjs';
import { LIMITS } from './limits.mjs';

const README = new URL('README.md', import.meta.url);
const { ONLY, RUNS = '1', AT_ONCE = '1', TRIAL = '20s', WIDTH = '5%', BUDGET = '15m', WRITE, FRESH } = process.env;
const { RESULTS = `${ROOT}/.cache/capacity/searches.jsonl` } = process.env;
/** What the results are of, beside the binary. */
const PARTS = ['limits.mjs', 'service.mjs', 'lib/search.mjs'].map((part) => new URL(part, import.meta.url));

if (!existsSync(SONAGI)) throw new Error(`there is no ${SONAGI}\nhint: cargo build --release -p sonagi; SONAGI_BIN=target/release/sonagi`);
const known = Object.keys(LIMITS);
const names = ONLY ? ONLY.split(',') : known;
for (const name of names) if (!known.includes(name)) throw new Error(`ONLY names some of ${known}, got ${name}`);
for (const [name, value] of Object.entries({ RUNS, AT_ONCE })) {
  if (!(Number.isInteger(Number(value)) && Number(value) > 0)) throw new Error(`${name} is a whole number from 1, got ${value}`);
}

// A table of other columns is refused at once, and not after hours.
if (WRITE) merged(TABLE, marked(README, 'searches'), []);
const version = fingerprint([SONAGI, ...PARTS]);
const kept = new Kept(RESULTS, { isFresh: Boolean(FRESH) });
const searches = new Map(names.map((name) => [name, []]));
// The limits in turn, so that a part of it is a part of each.
const waiting = Array.from({ length: Number(RUNS) }, (_, run) => names.map((name) => ({ name, run }))).flat();
await Promise.all(Array.from({ length: Number(AT_ONCE) }, work));
const where = `Sonagi of ${commit()}, ${AT_ONCE} at once; ${machineLine()}`;
const rows = names.map((name) => rowOf(name, LIMITS[name], searches.get(name), { trial: TRIAL, where }));
console.log(`\n${markdown(TABLE, rows)}`);
if (WRITE) rewrite(README, 'searches', (text) => markdown(TABLE, merged(TABLE, text, rows)));
process.exitCode = names.every((name) => searches.get(name).every((search) => isHeld(LIMITS[name], search))) ? 0 : 1;

/** Takes what waits, until nothing does. */
async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { name, run } = next;
    const key = [name, run, TRIAL, WIDTH, BUDGET, AT_ONCE, version].join(' ');
    const make = async () => ({
      load: loadavg()[0],
      ...(await found(name, LIMITS[name], { width: WIDTH, trial: TRIAL, budget: BUDGET }).catch(({ message }) => ({ error: message }))),
    });
    const { result, isOld } = await kept.of(key, make);
    searches.get(name).push(result);
    console.log(`${told(name, LIMITS[name], result)}${isOld ? ' (made before)' : ''}`);
  }
}
