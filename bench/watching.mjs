// What watching the target costs http-closed and ws-fanout, with the load on one core and its target on the other, so that the
// scheduler does not move them about; who looks runs on either. In two ways:
// - whole runs, watched as they are without being asked and with --no-watch, in turn: ROUNDS=11 pairs of SECONDS_EACH=4, as five
//   seconds of a full core make a run INVALID. Their CPU is that of the load's threads, looks not counted;
// - one run of SECONDS_LONG=320 with --no-watch, beside which WATCHERS=10 other processes (`sonagi watch`) look for blocks of four
//   seconds: forty pairs in one run. What one of them costs is the tenth root of the ratio: the machine's own jumps, which are larger
//   than a look, become a tenth of themselves, and what a look costs does not. Its p99 is the mean of its seconds' p99s. Being INVALID
//   by its full core does not make its rates wrong: what is compared is how many requests that core came to.
// SONAGI_BIN or the release build.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { serve } from '../interop/support/process.mjs';
import { BLOCK_S, EDGE_S, begin, blockPairs, isDisturbed, rows } from './lib/blocks.mjs';
import { TARGET_CORE, TOOL_CORE } from './lib/cores.mjs';
import { estimate, pairs, ratio } from './lib/pairs.mjs';
import { endAllWhenInterrupted, remember, rememberFolder } from './lib/started.mjs';
import { median } from './lib/statistics.mjs';

const SONAGI = process.env.SONAGI_BIN ?? new URL('../target/release/sonagi', import.meta.url).pathname;
const ROUNDS = Number(process.env.ROUNDS ?? 11);
const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
const BLOCKS = 2 * Math.floor(Number(process.env.SECONDS_LONG ?? 320) / BLOCK_S / 2);
const WATCHERS = Number(process.env.WATCHERS ?? 10);
const mean = (seconds, of) => seconds.reduce((sum, row) => sum + of(row), 0) / seconds.length;
/** The cases: how many users, after how many seconds a long run is settled, the figures of a run, and those of some seconds. */
const CASES = {
  'http-closed/sonagi.yml': {
    users: 50,
    settled: 0,
    whole: (run) => ({ 'requests/s': run.traffic.http_responses / run.duration_s, p99_ms: run.operations[0].response_ms.p99 }),
    part: (seconds) => ({
      'requests/s': mean(seconds, (row) => row['rooms.rate_per_s'] + row['messages.rate_per_s']),
      p99_ms: mean(seconds, (row) => row['rooms.response_p99_ms']),
    }),
  },
  'ws-fanout/ledger.yml': {
    users: 300,
    settled: 3,
    whole: (run) => ({ 'CPU µs a copy': (1e6 * run.generator.cpu_s) / (run.delivery.delivered + run.delivery.late), p99_ms: run.delivery.latency_ms.p99 }),
    part: (seconds) => ({
      'CPU µs a copy': mean(seconds, (row) => (1e6 * row['generator.cpu_s']) / row['websocket.received']),
      p99_ms: mean(seconds, (row) => row['delivery.latency_p99_ms']),
    }),
  },
};

function command(script, target, more) {
  const path = new URL(`scripts/${script}`, import.meta.url).pathname;
  return ['run', path, '--target', target, '--quiet', '--shards', '1', ...more];
}

/** A program with its arguments, kept on one core. */
const on = (core, program, args) => ['taskset', ['-c', core, program, ...args]];

const environment = (users, seconds) => ({ ...process.env, USERS: String(users), SECONDS: String(seconds) });

async function run(script, { users, whole }, target, isWatched) {
  const argv = command(script, target, ['--json', '--no-folder', ...(isWatched ? [] : ['--no-watch'])]);
  const { stdout } = await promisify(execFile)(...on(TOOL_CORE, SONAGI, argv), { env: environment(users, SECONDS), maxBuffer: 1 << 26, timeout: 1000 * (SECONDS + 60) });
  const summary = JSON.parse(stdout);
  const looks = Object.entries(summary.watched).filter(([name]) => name === 'watch.cpu');
  if (isWatched !== looks.length > 0) throw new Error(`watched: ${isWatched}, and watch.cpu has ${looks.length} series`);
  return { ...whole(summary), look_cpu_ms: looks[0]?.[1].level.value ?? 0 };
}

/** Starts a program that must be killed: what it says, its end, and the killing. */
function started(program, argv, env) {
  const child = spawn(program, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const forget = remember(child.pid);
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const said = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (said.text += text));
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
    forget();
  };
  return { child, said, ended, kill };
}

/** Watchers of a port, all stopped, whose looks are spread over the second. */
async function stoppedWatchers(port, seconds) {
  const watchers = [];
  for (let which = 0; which < WATCHERS; which += 1) {
    const watch = started(SONAGI, ['watch', '--port', port, '--for', `${seconds}s`, '--json'], process.env);
    watchers.push(watch);
    await sleep(1000 / WATCHERS);
  }
  await Promise.all(watchers.map(({ child, ended }) => Promise.race([once(child.stdout, 'data'), ended])));
  for (const { child } of watchers) child.kill('SIGSTOP');
  return watchers;
}

/** One long run, watched from beside it for blocks: its pairs of blocks. */
async function blocks(script, { users, settled, part }, target) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-watching-'));
  const forget = rememberFolder(folder);
  const seconds = Math.ceil(begin(settled, BLOCKS) + 1);
  const watchers = await stoppedWatchers(new URL(target).port, seconds + 60);
  const spawned = Date.now();
  const load = started(...on(TOOL_CORE, SONAGI, command(script, target, ['--runs', folder, '--no-watch'])), environment(users, seconds));
  try {
    for (let block = 0; block <= BLOCKS; block += 1) {
      const over = await Promise.race([load.ended, sleep(1000 * begin(settled, block) - (Date.now() - spawned))]);
      if (over !== undefined) throw new Error(`the run ended with ${over} before block ${block} of ${BLOCKS}`);
      for (const watch of watchers) watch.child.kill(block < BLOCKS && isDisturbed(block) ? 'SIGCONT' : 'SIGSTOP');
    }
    if ((await Promise.race([load.ended, sleep(60_000, undefined, { ref: false })])) === undefined) throw new Error('the run does not end');
    const path = join(folder, readdirSync(folder)[0]);
    const late = (statSync(path).birthtimeMs - spawned) / 1000;
    if (late > EDGE_S / 2) throw new Error(`the run began ${late.toFixed(2)} s after it was started: its seconds are not those of the blocks`);
    const looks = watchers.reduce((sum, { said }) => sum + said.text.split('"watch.cpu"').length - 1, 0);
    const wanted = WATCHERS * (BLOCKS / 2) * BLOCK_S;
    if (looks < 0.8 * wanted) throw new Error(`it was looked ${looks} times in ${wanted} seconds`);
    const { stdout } = await promisify(execFile)(SONAGI, ['report', path, '--csv'], { maxBuffer: 1 << 26 });
    return blockPairs(rows(stdout), { settled, count: BLOCKS }, part);
  } finally {
    await Promise.all([...watchers, load].map((one) => one.kill()));
    rmSync(folder, { recursive: true });
    forget();
  }
}

endAllWhenInterrupted();
for (const [script, what] of Object.entries(CASES)) {
  const target = await serve(...on(TARGET_CORE, SONAGI, ['serve', '--null', '--workers', '1', '--listen', '127.0.0.1:0', '--connections', '2000', '--grace', '10ms', '--stop-on-eof']), /listening on (\S+)/);
  try {
    const shown = (figures) => Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(', ');
    const tell = (which) => (round, without, watched) => console.log(`${script} ${which} ${round}: unwatched ${shown(without)}; watched ${shown(watched)}`);
    const all = await pairs(ROUNDS, (isWatched) => run(script, what, target.match[1], isWatched), tell('run'));
    const within = BLOCKS > 0 ? await blocks(script, what, target.match[1]) : [];
    within.forEach(([without, watched], at) => tell('block')(at + 1, without, watched));
    const [name] = Object.keys((all[0] ?? within[0])[0]);
    const sums = (which, of) => console.log(`${script}: watched / unwatched, ${which}: ${name} ${of(name)}, p99 ${of('p99_ms')}`);
    if (all.length > 0) sums(`${all.length} pairs of runs`, (figure) => ratio(all, figure));
    if (within.length > 0) {
      sums(`${within.length} pairs of blocks, ${WATCHERS} watchers`, (figure) => (within.length < 30 ? ratio : estimate)(within, figure));
      // Not of p99: looks that take two milliseconds ten times a second are a fiftieth of it, and one is less than a hundredth.
      if (within.length >= 30) console.log(`${script}: one watcher of them: ${name} ${estimate(within, name, { doses: WATCHERS })}`);
    }
    const looks = median(all.map(([, watched]) => watched.look_cpu_ms));
    if (all.length > 0) console.log(`${script}: a look a second takes ${looks.toFixed(2)} ms of CPU`);
  } finally {
    await target.stop();
  }
}
