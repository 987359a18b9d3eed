// What watching the target costs, twice for each of http-closed and ws-fanout:
// - whole runs, watched as they are without being asked and with --no-watch, in turn: ROUNDS=9 pairs of SECONDS_EACH=4, as five
//   seconds of a full core make a run INVALID;
// - one run of SECONDS_LONG=128 with --no-watch, beside which `sonagi watch` looks in every second block of four seconds: sixteen
//   pairs in one run, which say more than as many runs, since two runs of the same differ by several percent.
// SONAGI_BIN or the release build.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { serve } from '../interop/support/process.mjs';
import { BLOCK_S, FIRST_S, blockPairs, isDisturbed, rows } from './lib/blocks.mjs';
import { pairs, ratio } from './lib/pairs.mjs';
import { median } from './lib/statistics.mjs';

const SONAGI = process.env.SONAGI_BIN ?? new URL('../target/release/sonagi', import.meta.url).pathname;
const ROUNDS = Number(process.env.ROUNDS ?? 9);
const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
const BLOCKS = Math.floor(Number(process.env.SECONDS_LONG ?? 128) / BLOCK_S);
const mean = (rows, of) => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
/** The cases: how many users, the figures of a run, and those of rows of a run. */
const CASES = {
  'http-closed/sonagi.yml': {
    users: 50,
    whole: (run) => ({ 'requests/s': run.traffic.http_responses / run.duration_s, p99_ms: run.operations[0].response_ms.p99 }),
    part: (rows) => ({
      'requests/s': mean(rows, (row) => row['rooms.rate_per_s'] + row['messages.rate_per_s']),
      p99_ms: mean(rows, (row) => row['rooms.response_p99_ms']),
    }),
  },
  'ws-fanout/ledger.yml': {
    users: 300,
    whole: (run) => ({ 'CPU µs a copy': (1e6 * run.generator.cpu_s) / (run.delivery.delivered + run.delivery.late), p99_ms: run.delivery.latency_ms.p99 }),
    part: (rows) => ({
      'CPU µs a copy': mean(rows, (row) => (1e6 * row['generator.cpu_s']) / row['websocket.received']),
      p99_ms: mean(rows, (row) => row['delivery.latency_p99_ms']),
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

/** One long run, watched from beside it in every second block: its pairs of blocks. */
async function blocks(script, { users, part }, target) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-watching-'));
  const seconds = Math.ceil(FIRST_S + BLOCKS * BLOCK_S + 1);
  const watch = spawn(SONAGI, ['watch', '--port', new URL(target).port, '--for', `${seconds + 60}s`, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(watch, 'close');
  try {
    let looks = 0;
    watch.stdout.on('data', (text) => (looks += String(text).split('\n').length - 1));
    await once(watch.stdout, 'data');
    watch.kill('SIGSTOP');
    const began = performance.now();
    const child = spawn(SONAGI, command(script, target, ['--runs', folder, '--no-watch']), { env: environment(users, seconds), stdio: ['ignore', 'ignore', 'pipe'] });
    const overdue = setTimeout(() => child.kill('SIGKILL'), 1000 * (seconds + 60));
    const ended = once(child, 'close');
    for (let block = 0; block <= BLOCKS; block += 1) {
      await sleep(1000 * (FIRST_S + block * BLOCK_S) - (performance.now() - began));
      watch.kill(block < BLOCKS && isDisturbed(block) ? 'SIGCONT' : 'SIGSTOP');
    }
    await ended;
    clearTimeout(overdue);
    if (looks < BLOCKS) throw new Error(`the watch told ${looks} seconds only`);
    const { stdout } = await promisify(execFile)(SONAGI, ['report', join(folder, readdirSync(folder)[0]), '--csv'], { maxBuffer: 1 << 26 });
    return blockPairs(rows(stdout), BLOCKS, part);
  } finally {
    watch.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true });
  }
}

for (const [script, what] of Object.entries(CASES)) {
  const target = await serve(SONAGI, ['serve', '--null', '--workers', '1', '--listen', '127.0.0.1:0', '--connections', '2000', '--grace', '10ms', '--stop-on-eof'], /listening on (\S+)/);
  try {
    const shown = (figures) => Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(', ');
    const tell = (which) => (round, without, watched) => console.log(`${script} ${which} ${round}: unwatched ${shown(without)}; watched ${shown(watched)}`);
    const all = await pairs(ROUNDS, (isWatched) => run(script, what, target.match[1], isWatched), tell('run'));
    const within = BLOCKS > 1 ? await blocks(script, what, target.match[1]) : [];
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
