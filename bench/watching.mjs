// What watching the target costs: http-closed and ws-fanout with the target watched, as it is without being asked, and with
// --no-watch, in turn. ROUNDS=9 pairs of SECONDS_EACH=4, as five seconds of a full core make a run INVALID; SONAGI_BIN or the
// release build.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { serve } from '../interop/support/process.mjs';
import { pairs, ratio } from './lib/pairs.mjs';
import { median } from './lib/statistics.mjs';

const SONAGI = process.env.SONAGI_BIN ?? new URL('../target/release/sonagi', import.meta.url).pathname;
const ROUNDS = Number(process.env.ROUNDS ?? 9);
const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
/** The cases: how many users, and the figures of a run. */
const CASES = {
  'http-closed/sonagi.yml': { users: 50, figures: (run) => ({ 'requests/s': run.traffic.http_responses / run.duration_s, p99_ms: run.operations[0].response_ms.p99 }) },
  'ws-fanout/ledger.yml': {
    users: 300,
    figures: (run) => ({ 'CPU µs a copy': (1e6 * run.generator.cpu_s) / (run.delivery.delivered + run.delivery.late), p99_ms: run.delivery.latency_ms.p99 }),
  },
};

async function run(script, { users, figures }, target, isWatched) {
  const path = new URL(`scripts/${script}`, import.meta.url).pathname;
  const argv = ['run', path, '--target', target, '--json', '--no-folder', '--quiet', '--shards', '1', ...(isWatched ? [] : ['--no-watch'])];
  const env = { ...process.env, USERS: String(users), SECONDS: String(SECONDS) };
  const { stdout } = await promisify(execFile)(SONAGI, argv, { env, maxBuffer: 1 << 26, timeout: 1000 * (SECONDS + 60) });
  const summary = JSON.parse(stdout);
  const looks = Object.entries(summary.watched).filter(([name]) => name === 'watch.cpu');
  if (isWatched !== looks.length > 0) throw new Error(`watched: ${isWatched}, and watch.cpu has ${looks.length} series`);
  return { ...figures(summary), look_cpu_ms: looks[0]?.[1].level.value ?? 0 };
}

for (const [script, what] of Object.entries(CASES)) {
  const target = await serve(SONAGI, ['serve', '--null', '--workers', '1', '--listen', '127.0.0.1:0', '--connections', '2000', '--grace', '10ms', '--stop-on-eof'], /listening on (\S+)/);
  try {
    const shown = (figures) => Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(', ');
    const all = await pairs(ROUNDS, (isWatched) => run(script, what, target.match[1], isWatched), (round, without, watched) => {
      console.log(`${script} ${round}: unwatched ${shown(without)}; watched ${shown(watched)}`);
    });
    const [name] = Object.keys(all[0][0]);
    const looks = median(all.map(([, watched]) => watched.look_cpu_ms));
    console.log(`${script}: watched / unwatched ${name} ${ratio(all, name)}, p99 ${ratio(all, 'p99_ms')}; a look a second takes ${looks.toFixed(2)} ms of CPU`);
  } finally {
    await target.stop();
  }
}
