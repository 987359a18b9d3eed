// `make bench`: installs the contestants, runs the cases, writes their results and renders them. See README.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { CASES, load } from './cases/index.mjs';
import { CACHE } from './lib/cache.mjs';
import { Contest } from './lib/contest.mjs';
import { installAll } from './lib/installation.mjs';
import { options } from './lib/options.mjs';
import { Progress } from './lib/progress.mjs';
import { conditions, resultOf } from './lib/results.mjs';
import { endAllWhenInterrupted } from './lib/started.mjs';
import { caseText } from './lib/tables.mjs';
import { render } from './render.mjs';
import { twinned } from './lib/twins.mjs';
import { TARGETS } from './targets/index.mjs';
import { TOOLS } from './tools/index.mjs';

const RESULTS = new URL('./results/', import.meta.url).pathname;

async function main() {
  const { cases: names, runs, wants, look, before: rival } = options(process.env, CASES, Object.keys(TOOLS));
  const cases = await Promise.all(names.map(load));
  const chosen = new Map(cases.map((kase) => [kase, twinned(kase.contestants.filter(wants), rival)]));

  const all = [...chosen.values()].flat();
  const available = await installAll(all, TOOLS, TARGETS, CACHE);

  const progress = new Progress([...chosen].map(([kase, contestants]) => ({ kase, contestants: contestants.filter(available.has), runs })));
  for (const [kase, contestants] of chosen) {
    const before = conditions();
    const contest = new Contest(kase, TARGETS, progress.ended);
    const ran = await contest.run(contestants.filter(available.has), runs, progress.beginning(kase));
    const result = resultOf(kase, contestants, ran, available, { runs, before });
    save(result, look);
    if (look) console.log(caseText(result));
  }
  if (!look) render();
}

/** A finished case is kept whatever happens to those after it. */
function save(result, look) {
  const folder = look ? `${RESULTS}looks/` : RESULTS;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${result.case}.json`, `${JSON.stringify(result, null, 1)}\n`);
}

endAllWhenInterrupted();
try {
  await main();
} catch (error) {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
}
