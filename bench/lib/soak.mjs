// A soak: one long run of ours, whose memory and the service's are watched. Both are read every ten seconds; what they grew once
// settled is printed with its verdict, and results/NAME.json keeps the samples.
import { mkdirSync, writeFileSync } from 'node:fs';
import { objections } from '../tools/sonagi.mjs';
import { CACHE } from './cache.mjs';
import { runToEnd } from './child.mjs';
import { TARGET_CORE, TOOL_CORE } from './cores.mjs';
import { grew, growth, SETTLED_S } from './growth.mjs';
import { readable } from './measures.mjs';
import { conditions } from './results.mjs';
import { endAllWhenInterrupted } from './started.mjs';
import { Target } from './target.mjs';

const EVERY_MS = 10_000;
/** What the command line, users that a busy machine kept behind their pace, and the tool's own end take beyond the load. */
const PATIENCE_S = 300;

/**
 * Runs a soak and never throws: what went wrong is said, and the exit code. `target` is a file of targets/; MINUTES in the environment
 * wins over `minutes`; `script(seconds)` is what tools/sonagi.mjs makes of a script; `figures(summary)` is what the run did,
 * kept with the samples, and `told(figures)` one line of it. What was before `settled_s` is not judged.
 */
export async function soak(declared) {
  endAllWhenInterrupted();
  try {
    await run({ ...declared, minutes: minutesOf(process.env.MINUTES ?? declared.minutes) });
  } catch (error) {
    console.error(`${declared.name}: ${error.message}`);
    process.exitCode = 1;
  }
}

function minutesOf(given) {
  const minutes = Number(given);
  if (!(minutes > 0)) throw new Error(`MINUTES: a number above 0 is needed, got ${given}`);
  return minutes;
}

async function run(declared) {
  const { name, target: kind, minutes, script } = declared;
  await kind.install();
  const before = conditions();
  const seconds = Math.round(minutes * 60);
  const { command, report } = script(seconds);
  const target = await Target.start(kind, CACHE, TARGET_CORE);
  try {
    const samples = [];
    const outcome = await runToEnd(command({ target }), { cores: TOOL_CORE, timeout_s: seconds + PATIENCE_S, sample_ms: EVERY_MS, beside: watch(name, target, samples) });
    // The one that asks is counted, too.
    const connections_left = (await target.stats()).connections - 1;
    // What it held in memory is known however it ended.
    finish(declared, { ...before, minutes, connections_left }, samples, outcome.overdue ? undefined : report(outcome), outcome);
    if (outcome.overdue) throw new Error(`it had not ended after ${Math.round(outcome.wall_s)} s, and was ended`);
  } finally {
    await target.stop();
  }
}

/** Samples both until the generator ends, and says each minute how it stands. */
const watch = (name, target, samples) => async ({ sample, wait }) => {
  while (await wait(EVERY_MS)) {
    const [generator, service] = [sample(), target.sample()];
    samples.push(rounded({ at_s: generator.at_s, generator_mb: generator.rss_mb, service_mb: service.rss_mb, generator_cpu_s: generator.cpu_s, service_cpu_s: service.cpu_s }));
    if (samples.length % 6 === 0) console.error(`${name}: ${Math.round(generator.at_s)} s: generator ${readable(generator.rss_mb)} MB, service ${readable(service.rss_mb)} MB`);
  }
};

const rounded = (sample) => Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, Number(value.toFixed(3))]));

function finish({ name, figures, told, settled_s = SETTLED_S }, before, samples, summary, { wall_s, cpu_s }) {
  const { minutes, connections_left } = before;
  // What the generator gives back once the load is over would hide what grew under it.
  const loaded = samples.filter(({ at_s }) => at_s <= minutes * 60);
  const of = (who) => growth(loaded.map((one) => ({ at_s: one.at_s, mb: one[`${who}_mb`] })), settled_s) ?? null;
  const document = {
    ...before,
    settled_s,
    growth: { generator: of('generator'), service: of('service') },
    generator_cpu_share: cpu_s / wall_s,
    ...(summary && figures(summary)),
    objections: summary ? (objections(summary) ?? null) : 'it did not end',
    samples,
  };
  const folder = new URL('../results/', import.meta.url).pathname;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify(document, null, 1)}\n`);
  if (summary) console.log(`${minutes} minutes, ${readable(document.generator_cpu_share, 'share')} of a core: ${told(document)}`);
  for (const [who, grown] of Object.entries(document.growth)) console.log(`${who}: ${grown ? grownText(grown, settled_s) : `nothing to judge after the first ${settled_s} s`}`);
  if (connections_left > 0) console.log(`the service still holds ${connections_left} connections`);
  if (document.objections) console.log(`objections: ${document.objections}`);
}

const grownText = (grown, settled_s) =>
  `${grew(grown) ? 'growth' : 'no growth'}: ${readable(grown.from_mb)} MB after ${settled_s} s, ${readable(grown.to_mb)} MB at the end: ${readable(grown.grown_mb)} MB more, ${readable(grown.mb_per_hour)} MB an hour`;
