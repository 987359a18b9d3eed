// Holds `sonagi explain` against services with planted bottlenecks, and against their healthy twins (README.md).
//
//   node experiments/bottlenecks/run.mjs            every plant three times, its healthy twin ten times
//   node experiments/bottlenecks/run.mjs quick      the fast part, for the gate
//   ONLY=name,name RUNS=1 HEALTHY=2 SIZE=calibrate KEEP=folder DETAILS=1  choose and show
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { goAhead } from './lib/ahead.mjs';
import { judged, runs } from './lib/judge.mjs';
import { explained } from './lib/sonagi.mjs';
import { Started, endAllWhenInterrupted } from './lib/started.mjs';
import { markdown, told } from './lib/table.mjs';

const README = new URL('README.md', import.meta.url);
const { ONLY, SIZE = 'judge', RUNS = 3, HEALTHY = 10, DETAILS, WRITE } = process.env;
const isQuick = process.argv[2] === 'quick';

endAllWhenInterrupted();
goAhead();
const plants = (await all()).filter(({ name, quick }) => (ONLY ? ONLY.split(',').includes(name) : !isQuick || quick));
const results = [];
for (const plant of plants) {
  const impossible = plant.impossible?.();
  const result = { plant, impossible, runs: [] };
  results.push(result);
  const wanted = isQuick ? { planted: 1, healthy: plant === plants[0] ? 1 : 0 } : { planted: Number(RUNS), healthy: Number(HEALTHY) };
  for (const { planted, seed } of impossible ? [] : runs(wanted, SIZE)) {
    result.runs.push({ planted, seed, load: loadavg()[0], ...(await once(plant, { planted, seed })) });
    console.log(told(plant, result.runs.at(-1), DETAILS));
  }
  if (impossible) console.log(`${plant.name}: not run, because ${impossible}`);
}
console.log(`\n${markdown(results)}`);
if (WRITE) {
  const [before, , after] = readFileSync(README, 'utf8').split(/(?<=<!-- table -->\n)|(?=<!-- end -->)/);
  writeFileSync(README, `${before}\n${markdown(results)}\n${after}`);
}
process.exitCode = isQuick && !results.every((result) => judged(result).isAsWanted) ? 1 : 0;

/** One run of a plant, or of its healthy twin: the diagnosis, and what the run came to. */
async function once(plant, { planted, seed }) {
  const started = new Started();
  try {
    const size = plant.sizes[SIZE];
    const service = await plant.start(started, { planted, size });
    return await explained(started, { ...service, script: plant.load(size, { planted }), seed, name: `${plant.name}-${planted ? 'planted' : 'healthy'}` });
  } catch (error) {
    return { failed: error.message };
  } finally {
    await started.end();
  }
}

async function all() {
  const names = readdirSync(new URL('plants', import.meta.url)).filter((file) => file.endsWith('.mjs')).sort();
  const load = async (file) => ({ name: file.slice(0, -4), ...(await import(`./plants/${file}`)).default });
  return Promise.all(names.map(load));
}
