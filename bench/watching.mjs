// What watching the target costs http-closed and ws-fanout, in two ways:
// - whole runs, watched as they are without being asked and with --no-watch, in turn: ROUNDS=11 pairs of SECONDS_EACH=4, as five
//   seconds of a full core make a run INVALID. Their CPU is that of the load's threads, looks not counted;
// - one run of SECONDS_LONG=128 with --no-watch, beside which another process (`sonagi watch`) looks for blocks of four seconds:
//   sixteen pairs in one run. Its p99 is the mean of its seconds' p99s. Being INVALID by its full core does not make its rates wrong:
//   what is compared is how many requests that core came to.
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
import { pairs, ratio } from './lib/pairs.mjs';
import { endAllWhenInterrupted, remember, rememberFolder } from './lib/started.mjs';
import { median } from './lib/statistics.mjs';

const SONAGI = process.env.SONAGI_BIN ?? new URL('../target/release/sonagi', import.meta.url).pathname;
const ROUNDS = Number(process.env.ROUNDS ?? 11);
const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
const BLOCKS = 2 * Math.floor(Number(process.env.SECONDS_LONG ?? 128) / BLOCK_S / 2);
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

const environment = (users, seconds) => ({ ...process.env, USERS: String(users), SECONDS: String(seconds) });

async function run(script, { users, whole }, target, isWatched) {
  const argv = command(script, target, ['--json', '--no-folder', ...(isWatched ? [] : ['--no-watch'])]);
  const { stdout } = await promisify(execFile)(SONAGI, argv, { env: environment(users, SECONDS), maxBuffer: 1 << 26, timeout: 1000 * (SECONDS + 60) });
  const summary = JSON.parse(stdout);
  const looks = Object.entries(summary.watched).filter(([name]) => name === 'watch.cpu');
  if (isWatched !== looks.length > 0) throw new Error(`watched: ${isWatched}, and watch.cpu has ${looks.length} series`);
  return { ...whole(summary), look_cpu_ms: looks[0]?.[1].level.value ?? 0 };
}

/** Starts a program that must be killed: what it says, its end, and the killing. */
function started(argv, env) {
  const child = spawn(SONAGI, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
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

/** One long run, watched from beside it for blocks: its pairs of blocks. */
async function blocks(script, { users, settled, part }, target) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-watching-'));
  const forget = rememberFolder(folder);
  const seconds = Math.ceil(begin(settled, BLOCKS) + 1);
  const watch = started(['watch', '--port', new URL(target).port, '--for', `${seconds + 60}s`, '--json'], process.env);
  await Promise.race([once(watch.child.stdout, 'data'), watch.ended]);
  watch.child.kill('SIGSTOP');
  const spawned = Date.now();
  const load = started(command(script, target, ['--runs', folder, '--no-watch']), environment(users, seconds));
  try {
    for (let block = 0; block <= BLOCKS; block += 1) {
      const over = await Promise.race([load.ended, sleep(1000 * begin(settled, block) - (Date.now() - spawned))]);
      if (over !== undefined) throw new Error(`the run ended with ${over} before block ${block} of ${BLOCKS}`);
      watch.child.kill(block < BLOCKS && isDisturbed(block) ? 'SIGCONT' : 'SIGSTOP');
    }
    if ((await Promise.race([load.ended, sleep(60_000, undefined, { ref: false })])) === undefined) throw new Error('the run does not end');
    const path = join(folder, readdirSync(folder)[0]);
    const late = (statSync(path).birthtimeMs - spawned) / 1000;
    if (late > EDGE_S / 2) throw new Error(`the run began ${late.toFixed(2)} s after it was started: its seconds are not those of the blocks`);
    const looks = watch.said.text.split('"watch.cpu"').length - 1;
    const wanted = (BLOCKS / 2) * BLOCK_S;
    if (looks < 0.8 * wanted) throw new Error(`it was looked ${looks} times in ${wanted} seconds`);
    const { stdout } = await promisify(execFile)(SONAGI, ['report', path, '--csv'], { maxBuffer: 1 << 26 });
    return blockPairs(rows(stdout), { settled, count: BLOCKS }, part);
  } finally {
    await Promise.all([watch.kill(), load.kill()]);
    rmSync(folder, { recursive: true });
    forget();
  }
}

endAllWhenInterrupted();
for (const [script, what] of Object.entries(CASES)) {
  const target = await serve(SONAGI, ['serve', '--null', '--workers', '1', '--listen', '127.0.0.1:0', '--connections', '2000', '--grace', '10ms', '--stop-on-eof'], /listening on (\S+)/);
  try {
    const shown = (figures) => Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(', ');
    const tell = (which) => (round, without, watched) => console.log(`${script} ${which} ${round}: unwatched ${shown(without)}; watched ${shown(watched)}`);
    const all = await pairs(ROUNDS, (isWatched) => run(script, what, target.match[1], isWatched), tell('run'));
    const within = BLOCKS > 0 ? await blocks(script, what, target.match[1]) : [];
    within.forEach(([without, watched], at) => tell('block')(at + 1, without, watched));
    for (const [which, some] of [['runs', all], ['blocks', within]].filter(([, some]) => some.length > 0)) {
      const [name] = Object.keys(some[0][0]);
      console.log(`${script}: watched / unwatched, ${some.length} pairs of ${which}: ${name} ${ratio(some, name)}, p99 ${ratio(some, 'p99_ms')}`);
    }
    const looks = median(all.map(([, watched]) => watched.look_cpu_ms));
    if (all.length > 0) console.log(`${script}: a look a second takes ${looks.toFixed(2)} ms of CPU`);
  } finally {
    await target.stop();
  }
}
