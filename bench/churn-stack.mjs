// `make churn-stack MINUTES=10`: the people of the churn come and leave through nginx, to three instances over
// PostgreSQL and Redis (experiments/stack). Does any process grow, and is anything left of them when they are gone?
// Exit code 1 if so, or if there was nothing to judge. RATE people come in a second.
//
// SONAGI_BIN is the binary, generator and service alike; without it the release build is made.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { byRole, census } from './lib/census.mjs';
import { runToEnd } from './lib/child.mjs';
import { figures, people, SETTLED_S, told } from './lib/churn.mjs';
import { TARGET_CORE, TOOL_CORE } from './lib/cores.mjs';
import { grownTexts, growths, HELD } from './lib/growths.mjs';
import { checkpoint, holdings, left } from './lib/holdings.mjs';
import { readable } from './lib/measures.mjs';
import { conditions } from './lib/results.mjs';
import { endAllWhenInterrupted } from './lib/started.mjs';
import { BINARY, install, objections } from './tools/sonagi.mjs';

const EVERY_MS = 10_000;
/** What users that a busy machine kept behind their pace, and the tool's own end, take beyond the load. */
const PATIENCE_S = 300;
/** Rooms are heard for 30 s after the last has left, and nginx keeps connections for the next request for less. */
const RETURN_WITHIN_MS = 150_000;
const LOOK_MS = 3000;
/** After so many censuses PostgreSQL makes its first checkpoint: well before memory is judged, and with something to write. */
const CHECKPOINT_AT = 6;
/** Whose memory is told and not judged: its ledger remembers everybody who was ever in a room. */
const GENERATOR = 'generator';

function positive(name, standard) {
  const number = Number(process.env[name] ?? standard);
  if (!(number > 0)) throw new Error(`${name}: a number above 0 is needed, got ${process.env[name]}`);
  return number;
}

/** The stack of the binary that is to be tried: its library looks for that when it is loaded. */
async function stackOf(binary) {
  process.env.SONAGI_BIN = binary;
  const { Stack } = await import('../experiments/stack/lib/stack.mjs');
  // It shares a core with this program, and the generator has another.
  execFileSync('taskset', ['-c', '-p', TARGET_CORE, String(process.pid)], { stdio: 'ignore' });
  return Stack.start({ instances: 3 });
}

/** What was there at first: the most of a few looks, as in some of them the connection of who asks is still open. */
async function atFirst(stack) {
  const looks = [];
  for (let look = 0; look < 4; look += 1, await delay(500)) looks.push(await holdings(stack));
  const most = (name) => Math.max(...looks.map((one) => one[name]));
  return Object.fromEntries(Object.keys(looks[0]).map((name) => [name, most(name)]));
}

/** Looks until nothing is left of what came, or it takes too long: `{ before, after, left, returned_s }`. */
async function returned(stack, before) {
  const began = Date.now();
  for (;;) {
    const after = await holdings(stack);
    const still = left(before, after);
    const waited_ms = Date.now() - began;
    if (still.length === 0 || waited_ms > RETURN_WITHIN_MS) {
      return { before, after, left: still, returned_s: Math.round(waited_ms / 1000) };
    }
    await delay(LOOK_MS);
  }
}

/** A census every ten seconds until the generator ends; says each minute how it stands. */
const watch = (stack, moments) => async ({ pid, sample, wait }) => {
  while (await wait(EVERY_MS)) {
    if (moments.length === CHECKPOINT_AT) checkpoint(stack.addresses.postgres);
    const { at_s } = sample();
    const processes = census({ ...stack.addresses.pids, [GENERATOR]: pid });
    // The load may have ended between the two.
    if (processes.some(({ part }) => part === GENERATOR)) moments.push({ at_s, processes });
    if (moments.length % 6 === 0) {
      const mb = processes.reduce((sum, one) => sum + (one.part === GENERATOR ? 0 : one.mb), 0);
      const held = `${processes.length} processes, ${readable(mb)} MB of their own in the stack`;
      console.error(`churn-stack: ${Math.round(at_s)} s: ${held}`);
    }
  }
};

async function main() {
  const [minutes, rate] = [positive('MINUTES', 10), positive('RATE', 100)];
  if (!process.env.SONAGI_BIN) await install();
  const binary = process.env.SONAGI_BIN ?? BINARY;
  const begun = conditions();
  const seconds = Math.round(minutes * 60);
  const stack = await stackOf(binary);
  try {
    const before = await atFirst(stack);
    const { command, report } = people(rate)(seconds);
    const { argv, ...invocation } = command({ target: { url: stack.url } });
    const load = { ...invocation, argv: argv.map((word) => (word === BINARY ? binary : word)) };
    const moments = [];
    const beside = watch(stack, moments);
    const settings = { cores: TOOL_CORE, timeout_s: seconds + PATIENCE_S, sample_ms: EVERY_MS, beside };
    const outcome = await runToEnd(load, settings);
    const holding = await returned(stack, before);
    const summary = outcome.overdue ? undefined : report(outcome);
    finish({ ...begun, minutes, rate, settled_s: SETTLED_S }, moments, holding, summary, outcome);
  } finally {
    await stack.end();
  }
}

function finish(begun, moments, holding, summary, { wall_s, cpu_s }) {
  // What is given back once the load is over would hide what grew under it.
  const loaded = moments.filter(({ at_s }) => at_s <= begun.minutes * 60);
  const found = growths(loaded, begun.settled_s);
  const document = {
    ...begun,
    generator_cpu_share: cpu_s / wall_s,
    ...(summary && figures(summary)),
    objections: summary ? (objections(summary) ?? null) : 'it did not end',
    grown: grownTexts(found, ({ role }, name) => role === GENERATOR && name === 'mb'),
    holdings: holding,
    growth: found,
    samples: moments.map(({ at_s, processes }) => ({ at_s: Number(at_s.toFixed(1)), of: byRole(processes) })),
  };
  const folder = new URL('./results/', import.meta.url).pathname;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}churn-stack.json`, `${JSON.stringify(document, null, 1)}\n`);
  say(document, summary);
}

function say(document, summary) {
  const { minutes, settled_s, growth, grown, generator_cpu_share, objections: objected } = document;
  const { left: still, returned_s } = document.holdings;
  const share = readable(generator_cpu_share, 'share');
  if (summary) console.log(`${minutes} minutes, ${share} of a core: ${told(document)}`);
  for (const { key, held } of growth.rows) {
    const text = Object.entries(held).map(([name, { from, to }]) => `${readable(from)} → ${readable(to)} ${HELD[name]}`);
    console.log(`${key}: ${text.join(', ')}`);
  }
  if (growth.short.length > 0) console.log(`not judged, there for too short a time: ${growth.short.join(', ')}`);
  const isJudged = growth.rows.some(({ role }) => role !== GENERATOR);
  const judged = grown.join('\n') || 'no growth in any process';
  console.log(isJudged ? judged : `nothing to judge after the first ${settled_s} s`);
  const ended = `all connections and subscriptions had ended after ${returned_s} s`;
  console.log(still.length > 0 ? `left behind after ${returned_s} s:\n${still.join('\n')}` : ended);
  if (objected) console.log(`objections: ${objected}`);
  if (!isJudged || grown.length > 0 || still.length > 0 || !summary) process.exitCode = 1;
}

endAllWhenInterrupted();
try {
  await main();
} catch (error) {
  console.error(`churn-stack: ${error.message}`);
  process.exitCode = 1;
}
