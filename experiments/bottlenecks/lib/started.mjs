// What a run has started or made: processes, scratch folders, cgroups. All of it ends with the run, also when the run fails or this
// process is interrupted; should this process be killed, the kernel ends its children (setpriv --pdeathsig).
import { spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const all = new Set();
/** How long a process may take to end when it is asked to (ms). */
const FAREWELL_MS = 5_000;
/** How long one may take to be ready (ms). */
const READY_MS = 30_000;
/** Stands in for root, as whom PostgreSQL refuses to run. */
export const NOBODY = 65_534;

export class Started {
  #ends = [];
  #logs = 0;
  #isOver = false;

  constructor() {
    all.add(this);
    this.folder = mkdtempSync(join(tmpdir(), 'sonagi-bottleneck-'));
    // What runs as nobody must find its own folder in it.
    chmodSync(this.folder, 0o711);
    this.#ends.push(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /**
   * Starts a program in a process group of its own: `{ pid, ended, output(), stop(signal) }`. `unprivileged`: not as root; `before`: words
   * in front of the command, such as those that move it into a cgroup.
   */
  spawn(argv, { env, cwd = this.folder, unprivileged = false, before = [], quietly = true } = {}) {
    if (this.#isOver) throw new Error(`${argv[0]} is not started any more: the run is over`);
    const user = unprivileged && process.getuid() === 0 ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
    const log = join(this.folder, `log-${++this.#logs}`);
    const file = openSync(log, 'a');
    const child = spawn('setpriv', [...user, '--pdeathsig=KILL', '--', ...before, ...argv.map(String)], {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['ignore', file, quietly ? file : 'inherit'],
    });
    closeSync(file);
    let has = true;
    const ended = once(child, 'exit').then(([code, signal]) => ((has = false), code ?? signal));
    const signal = (name) => {
      try {
        process.kill(-child.pid, name);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    };
    const stop = async (name = 'SIGTERM') => {
      if (has) signal(name);
      await Promise.race([ended, delay(FAREWELL_MS, undefined, { ref: false })]);
      // What it has started itself, in its group, ends as well.
      signal('SIGKILL');
      await ended;
    };
    this.#ends.push(Object.assign(() => signal('SIGKILL'), { gracefully: () => stop(argv.farewell) }));
    return { pid: child.pid, ended, isAlive: () => has, output: () => readFileSync(log, 'utf8'), stop };
  }

  /** Calls this at the end, at once: it must not wait for anything. */
  atEnd(end) {
    this.#ends.push(end);
  }

  /** Ends all of it, the last first. */
  async end() {
    this.#isOver = true;
    for (const end of this.#ends.toReversed()) await (end.gracefully ?? end)();
    this.#ends = [];
    all.delete(this);
  }

  endAtOnce() {
    this.#isOver = true;
    for (const end of this.#ends.toReversed()) {
      try {
        end();
      } catch (error) {
        console.error(`bottlenecks: ${error.message}`);
      }
    }
  }
}

/** Waits until `found()` gives something; a process that ends meanwhile is an error, with what it said. */
export async function ready(what, started, found) {
  for (const until = Date.now() + READY_MS; ; await delay(50)) {
    const result = await found();
    if (result) return result;
    if (!started.isAlive()) throw new Error(`${what} ended: ${started.output().slice(-800)}`);
    if (Date.now() > until) throw new Error(`${what} was not ready in ${READY_MS / 1_000} s: ${started.output().slice(-800)}`);
  }
}

/** Waits for the line `listening on PORT`, which our services print: the port. */
export const listening = (what, started) => ready(what, started, () => Number(started.output().match(/listening on (\d+)/)?.[1]));

/** From now on a signal, or an error that nobody caught, ends what was started before it ends this process. */
export function endAllWhenInterrupted() {
  const end = (code) => {
    for (const started of all) started.endAtOnce();
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => end(130));
  process.once('uncaughtException', (error) => {
    console.error(`bottlenecks: ${error.stack}`);
    end(1);
  });
}
