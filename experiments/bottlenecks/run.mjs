// Holds `sonagi explain` against services with planted bottlenecks, and against their healthy twins (README.md).
//
//   node experiments/bottlenecks/run.mjs            every plant three times, its healthy twin ten times
//   node experiments/bottlenecks/run.mjs quick      the fast part, for the gate
//   ONLY=name,name RUNS=1 HEALTHY=2 SIZE=calibrate KEEP=folder DETAILS=1  choose and show
//
// Every run is written down as soon as it is done; started again with the same binary and plants, it goes on where it was
// (FRESH=1: from the beginning).
import { existsSync, readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../bench/lib/cache.mjs';
import { SONAGI } from '../../interop/support/process.mjs';
import { Kept, fingerprint } from '../lib/kept.mjs';
import { rewrite } from '../lib/marked.mjs';
import { machineLine } from '../lib/measured_on.mjs';
import { goAhead } from './lib/ahead.mjs';
import { judged, runs } from './lib/judge.mjs';
import { explained } from './lib/sonagi.mjs';
import { Started, endAllWhenInterrupted } from './lib/started.mjs';
import { page, told } from './lib/table.mjs';

const README = new URL('README.md', import.meta.url);
const { ONLY, SIZE = 'judge', RUNS = 3, HEALTHY = 10, DETAILS, WRITE, FRESH } = process.env;
const { RESULTS = `${ROOT}/.cache/bottlenecks/runs.jsonl` } = process.env;
/** What a run is of, beside the binary and the plant's own file. */
const PARTS = ['../lib', 'lib', 'services', 'stacks'];
const isQuick = process.argv[2] === 'quick';

endAllWhenInterrupted();
if (!existsSync(SONAGI)) throw new Error(`there is no ${SONAGI}\nhint: cargo build -p sonagi, or SONAGI_BIN=…`);
if (WRITE && ONLY) {
  const hint = 'make the runs of these with ONLY alone, then WRITE=1 without it: runs made before are not made again';
  throw new Error(`the table in README.md is of all plants, and ONLY leaves some out\nhint: ${hint}`);
}
goAhead();
const plants = (await all()).filter(({ name, quick }) => (ONLY ? ONLY.split(',').includes(name) : !isQuick || quick));
const results = [];
// The gate's part is of what is built now, whatever stood there before.
const kept = isQuick ? undefined : new Kept(RESULTS, { isFresh: Boolean(FRESH) });
for (const plant of plants) {
  const impossible = plant.impossible?.();
  const result = { plant, impossible, runs: [] };
  results.push(result);
  const wanted = isQuick ? { planted: 1, healthy: plant === plants[0] ? 1 : 0 } : { planted: Number(RUNS), healthy: Number(HEALTHY) };
  for (const { planted, seed } of impossible ? [] : runs(wanted, SIZE)) {
    const make = async () => ({ planted, seed, load: loadavg()[0], ...(await once(plant, { planted, seed })) });
    const key = [plant.name, planted ? 'planted' : 'healthy', SIZE, seed, plant.version].join(' ');
    const { result: run, isOld } = kept ? await kept.of(key, make) : { result: await make() };
    result.runs.push(run);
    console.log(`${told(plant, run, DETAILS)}${isOld ? ' (made before)' : ''}`);
  }
  if (impossible) console.log(`${plant.name}: not run, because ${impossible}`);
}
const text = `${page(results)}\n\n${machineLine()}.`;
console.log(`\n${text}`);
if (WRITE) rewrite(README, 'table', () => text);
process.exitCode = isQuick && !results.every((result) => judged(result).isAsWanted) ? 1 : 0;

/** One run of a plant, or of its healthy twin: the diagnosis, and what the run came to. */
async function once(plant, { planted, seed }) {
  const started = new Started();
  try {
    const size = plant.sizes[SIZE];
    const service = await plant.start(started, { planted, size });
    return await explained(started, { ...service, script: plant.load(size, { planted }), seed, name: `${plant.name}-${planted ? 'planted' : 'healthy'}` });
  } catch (error) {
    return { error: error.message };
  } finally {
    await started.end();
  }
}

/** All plants; `version` names what their runs are of. */
async function all() {
  const files = (folder) => readdirSync(new URL(folder, import.meta.url), { recursive: true, withFileTypes: true });
  const parts = PARTS.flatMap(files).filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const common = fingerprint([SONAGI, ...parts.filter((path) => /\.(mjs|py|java)$/.test(path)).sort()]);
  const load = async ({ parentPath, name }) => {
    const { default: plant } = await import(join(parentPath, name));
    return { name: name.slice(0, -4), ...plant, version: `${common} ${fingerprint([join(parentPath, name)])}` };
  };
  const plants = files('plants').filter(({ name }) => name.endsWith('.mjs'));
  return Promise.all(plants.sort((a, b) => (a.name < b.name ? -1 : 1)).map(load));
}
