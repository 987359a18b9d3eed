// Kills a part of the stack under load, and asks the ledger of each transport whether anything acknowledged was lost
// or came twice (README.md).
//
//   node experiments/stack/kills.mjs                       every kind of kill ten times; about twenty minutes
//   ONLY=drain,redis ROUNDS=2 TALKERS=12                   choose; so many a second come to talk, instead of six
//   KEEP=folder WRITE=1                                    keep run folders; write the table into docs/service.md
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SONAGI } from '../../interop/support/process.mjs';
import { marked, rewrite } from '../lib/marked.mjs';
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { endWhenInterrupted } from './lib/interrupted.mjs';
import { figuresOf, judged, killed, KINDS, TRANSPORTS } from './lib/kills.mjs';
import { TABLE, line, rowsOf } from './lib/kills_table.mjs';
import { Stack } from './lib/stack.mjs';

const SCRIPT = fileURLToPath(new URL('kills.yml', import.meta.url));
const PAGE = new URL('../../docs/service.md', import.meta.url);
/** Of each transport: who listens all the time, and how many a second come to talk. */
const LISTENERS = 12;
const TALKERS = Number(process.env.TALKERS ?? 6);
/** Of each user in turn: more rows than come, as in sequence they would begin again. */
const ROLES = ['role', ...Array(LISTENERS).fill('listens'), ...Array(TALKERS * 20).fill('talks')];
/** The kill comes so long after the load began (ms): people go on coming for seven seconds behind the latest. */
const KILL_FROM_MS = 4_000;
const KILL_WITHIN_MS = 2_000;
/** A round that could not have shown anything for some transport is made up for by another, at most so many times. */
const EXTRA_ROUNDS = 3;
/** A run that takes longer hangs (ms). */
const OVERDUE_MS = 90_000;

const { ONLY, ROUNDS = '10', KEEP, WRITE } = process.env;
const known = KINDS.map(({ name }) => name);
const wanted = ONLY ? ONLY.split(',') : known;
for (const name of wanted) if (!known.includes(name)) throw new Error(`ONLY names some of ${known}, got ${name}`);
const kinds = KINDS.filter(({ name }) => wanted.includes(name));
const rounds = Number(ROUNDS);
for (const [name, value] of Object.entries({ ROUNDS: rounds, TALKERS })) {
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} is a whole number from 1`);
}

// A table of other columns is refused at once, and not after hours.
if (WRITE) merged(TABLE, marked(PAGE, 'kills'), []);

/** The stack that is up, or on its way. */
let starting;
const isInterrupted = endWhenInterrupted(async () => (await starting?.catch(() => undefined))?.end());

const results = [];
for (const kind of kinds) results.push({ kind, runs: await all(kind) });
const rows = results.flatMap(rowsOf);
console.log(`\n${markdown(TABLE, rows)}`);
if (WRITE) rewrite(PAGE, 'kills', (text) => markdown(TABLE, merged(TABLE, text, rows)));
process.exitCode = results.every(({ runs }) => areEnough(runs) && runs.every(({ verdict }) => verdict !== 'failed')) ? 0 : 1;

/** All rounds of a kind, in one stack: what was killed is killed again. */
async function all(kind) {
  starting = Stack.start();
  const stack = await starting;
  try {
    const runs = [];
    for (let round = 0; round < rounds + EXTRA_ROUNDS && !areEnough(runs); round += 1) {
      for (const run of await once(stack, kind, round)) {
        runs.push(run);
        console.log(line(kind, run));
      }
    }
    return runs;
  } catch (error) {
    // What was interrupted ends with everything else, in its own handler.
    if (isInterrupted()) await new Promise(() => {});
    throw error;
  } finally {
    await stack.end();
  }
}

/** Whether each transport has as many runs as are wanted that could have shown what broke. */
function areEnough(runs) {
  return TRANSPORTS.every((transport) => runs.filter((run) => run.transport === transport && run.verdict !== 'void').length >= rounds);
}

/** One round: a run of each transport, all at the same time, and one kill. */
async function once(stack, kind, round) {
  const folder = join(stack.folder, `${kind.name}-${round}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'people.csv'), ROLES.join('\n'));
  const loads = TRANSPORTS.map((transport) => ({ transport, running: load(stack, kind, round, transport, folder) }));
  await delay(KILL_FROM_MS + Math.random() * KILL_WITHIN_MS);
  const seen = await killed(stack, kind, round).catch((error) => {
    console.error(`${kind.name}, round ${round + 1}: ${error.message}`);
  });
  return Promise.all(loads.map(async ({ transport, running }) => {
    const summary = await summaryOf(running, join(folder, `${transport}.json`)).catch((error) => {
      // One run that could not be made is not worth all the others.
      if (isInterrupted()) throw error;
      console.error(error.message);
    });
    const figures = figuresOf(summary);
    return { round, transport, figures, seen, ...judged(kind, transport, figures, seen, LISTENERS) };
  }));
}

function load(stack, kind, round, transport, folder) {
  const kept = KEEP ? ['--runs', join(resolve(KEEP), `${kind.name}-${round}`)] : ['--no-folder'];
  const who = ['--matrix', `transport=${transport}`, '--payload', join(folder, 'people.csv'), '--shards', 1];
  const told = ['--no-watch', '--quiet', '--output', join(folder, `${transport}.json`), ...kept];
  const argv = [SONAGI, 'run', SCRIPT, '--target', stack.url, ...who, ...told];
  const env = { LISTENERS, TALKERS, ROOMS: `${kind.name}-${round}` };
  return stack.processes.start(`load-${kind.name}-${round}-${transport}`, argv, { asRoot: true, env });
}

/** What a run came to: it may fail, as users do whose sends are refused. */
async function summaryOf(running, file) {
  const overdue = setTimeout(() => running.signal('SIGKILL'), OVERDUE_MS);
  const code = await running.ended;
  clearTimeout(overdue);
  if (![0, 1, 3].includes(code)) throw new Error(`${running.name} ended with ${code}: ${running.output()}`);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  return [report].flat()[0].sonagi;
}
