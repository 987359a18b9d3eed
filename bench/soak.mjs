// `make soak MINUTES=30`: half of what one core carries, for long, in one process; does memory grow? A room with the ledger on
// takes a quarter of the core, HTTP another. Memory of generator and service is read every ten seconds and what it grew after
// the first minute is printed; results/soak.json keeps the samples. The service is the null one: the whole one keeps messages,
// and is to grow.
import { mkdirSync, writeFileSync } from 'node:fs';
import { CACHE } from './lib/cache.mjs';
import { runToEnd } from './lib/child.mjs';
import { TARGET_CORE, TOOL_CORE } from './lib/cores.mjs';
import { growth, SETTLED_S } from './lib/growth.mjs';
import { readable } from './lib/measures.mjs';
import { conditions } from './lib/results.mjs';
import { endAllWhenInterrupted } from './lib/started.mjs';
import { Target } from './lib/target.mjs';
import * as nothing from './targets/null.mjs';
import { objections, install, script } from './tools/sonagi.mjs';

const EVERY_MS = 10_000;
/** A room of so many who speak once a second: 90,000 deliveries a second. */
const MEMBERS = 300;
/** So many ask a thousand times a second each. */
const ASKERS = 40;
const PACE_S = 0.001;

/** What the command line, askers that a busy machine kept behind their pace, and the tool's own end take beyond the load. */
const PATIENCE_S = 300;

async function main() {
  const minutes = Number(process.env.MINUTES ?? 30);
  if (!(minutes > 0)) throw new Error(`MINUTES: a number above 0 is needed, got ${process.env.MINUTES}`);
  await install();
  const before = conditions();
  const seconds = Math.round(minutes * 60);
  const parameters = { MEMBERS, ASKERS, PEOPLE: MEMBERS + ASKERS, SECONDS: seconds, PACE: PACE_S, ROUNDS: Math.round(seconds / PACE_S) };
  const { command, report } = script('soak/soak.yml', parameters, { flags: ['--seed', 7] });
  const target = await Target.start(nothing, CACHE, TARGET_CORE);
  try {
    const samples = [];
    const outcome = await runToEnd(command({ target }), { cores: TOOL_CORE, timeout_s: seconds + PATIENCE_S, sample_ms: EVERY_MS, beside: watch(target, samples) });
    // What it held in memory is known however it ended.
    finish(minutes, before, samples, outcome.overdue ? undefined : report(outcome), outcome);
    if (outcome.overdue) throw new Error(`it had not ended after ${Math.round(outcome.wall_s)} s, and was ended`);
  } finally {
    await target.stop();
  }
}

/** Samples both until the generator ends, and says each minute how it stands. */
const watch = (target, samples) => async ({ sample, wait }) => {
  while (await wait(EVERY_MS)) {
    const [generator, service] = [sample(), target.sample()];
    samples.push(rounded({ at_s: generator.at_s, generator_mb: generator.rss_mb, service_mb: service.rss_mb, generator_cpu_s: generator.cpu_s, service_cpu_s: service.cpu_s }));
    if (samples.length % 6 === 0) console.error(`soak: ${Math.round(generator.at_s)} s: generator ${readable(generator.rss_mb)} MB, service ${readable(service.rss_mb)} MB`);
  }
};

const rounded = (sample) => Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, Number(value.toFixed(3))]));

function finish(minutes, before, samples, summary, { wall_s, cpu_s }) {
  // What the generator gives back once the load is over would hide what grew under it.
  const loaded = samples.filter(({ at_s }) => at_s <= minutes * 60);
  const of = (who) => growth(loaded.map((one) => ({ at_s: one.at_s, mb: one[`${who}_mb`] }))) ?? null;
  const { messages, owed, delivered, late } = summary?.delivery ?? {};
  const document = {
    ...before,
    minutes,
    growth: { generator: of('generator'), service: of('service') },
    generator_cpu_share: cpu_s / wall_s,
    delivery: { messages, owed, delivered, late },
    http_responses: summary?.traffic.http_responses,
    objections: summary ? (objections(summary) ?? null) : 'it did not end',
    samples,
  };
  const folder = new URL('./results/', import.meta.url).pathname;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}soak.json`, `${JSON.stringify(document, null, 1)}\n`);
  if (summary) console.log(`${minutes} minutes, ${readable(document.generator_cpu_share, 'share')} of a core: ${readable(delivered + late)} of ${readable(owed)} copies, ${readable(document.http_responses)} HTTP responses`);
  for (const [who, grown] of Object.entries(document.growth)) console.log(`${who}: ${grown ? told(grown) : `nothing to judge after the first ${SETTLED_S} s`}`);
  if (document.objections) console.log(`objections: ${document.objections}`);
}

const told = ({ from_mb, to_mb, grown_mb, mb_per_hour }) =>
  `${readable(from_mb)} MB after the first minute, ${readable(to_mb)} MB at the end: ${readable(grown_mb)} MB more, ${readable(mb_per_hour)} MB an hour`;

endAllWhenInterrupted();
try {
  await main();
} catch (error) {
  console.error(`soak: ${error.message}`);
  process.exitCode = 1;
}
