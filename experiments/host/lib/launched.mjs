// A run of Sonagi that launches our service: started, reachable, ended, and what it said.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../interop/support/ports.mjs';
import { SONAGI } from '../../../interop/support/process.mjs';
import { ready } from '../../bottlenecks/lib/started.mjs';

const SERVICE = new URL('../service.mjs', import.meta.url).pathname;
/** How much longer than its script a run may take (ms). */
const PATIENCE_MS = 60_000;

let runs = 0;

/**
 * Starts `sonagi run` of a script that launches a service of this `kind` with these keys of `launch`, for so many
 * `seconds`: one user asks once at the begin. Comes back when that was answered. `address` is the port that the run's
 * load goes to, which is a proxy's where there is one; `end(signal)` waits for its end.
 */
export async function launched(started, { kind, launch = {}, seconds }) {
  runs += 1;
  const folder = join(started.folder, `run-${runs}`);
  mkdirSync(folder);
  const port = await freePort();
  const script = {
    config: {
      target: `http://127.0.0.1:${port}`,
      phases: [{ duration: 1, arrivalCount: 1 }],
      launch: { command: [process.execPath, SERVICE, kind, port, folder], folder, stop: { grace: '1s' }, ...launch },
    },
    scenarios: [{ flow: [{ get: { url: '/' } }, { think: seconds }] }],
  };
  const file = join(folder, 'run.yml');
  writeFileSync(file, JSON.stringify(script));
  const flags = ['--json', '--quiet', '--no-watch', '--runs', join(folder, 'runs')];
  const run = started.spawn([SONAGI, 'run', file, ...flags]);
  const written = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '');
  const until = (what, found) => ready(what, run, found);
  const host = await until(`the service (${kind})`, () => written('host'));
  const address = Number(host.split(':')[1]);
  return { pid: run.pid, folder, port, address, written, until, end: (signal) => ended(run, seconds, signal) };
}

/** Waits for the end of a run, or asks for it by a signal: its exit code, what it said, and that of its service. */
async function ended(run, seconds, signal) {
  if (signal) process.kill(run.pid, signal);
  const late = delay(seconds * 1_000 + PATIENCE_MS, 'late', { ref: false });
  const code = await Promise.race([run.ended, late]);
  if (code === 'late') throw new Error(`sonagi run did not end: ${run.output().slice(-600)}`);
  const said = run.output();
  const summary = said.match(/^\{[\s\S]*^\}/m);
  return { code, said, service: summary ? JSON.parse(summary[0]).service : undefined };
}
