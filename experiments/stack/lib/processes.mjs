// The processes of a stack and its folder: all of it ends with this process, whatever ends it.
//
// | what happens | what ends the rest |
// |---|---|
// | `end()`, an error, Ctrl-C, SIGTERM, SIGHUP | `end()`: each is asked in its own way, then killed |
// | this process is killed | the kernel signals each child (setpriv --pdeathsig), and a shell that reads from it removes the folder |
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** How long a process may take to be ready, and to end when it is asked to (ms). */
const READY_MS = 30_000;
const FAREWELL_MS = 8_000;
/** Stands in for root, as whom PostgreSQL refuses to run. */
const NOBODY = 65_534;
const isRoot = process.getuid() === 0;

/** Removes a folder once what it reads from has ended: whoever still writes there is being ended by the kernel. */
const SWEEP = 'cat >/dev/null; for n in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null && exit; sleep 0.3; done';

export class Processes {
  #all = [];
  #isOver = false;
  #ending;

  /** `folder`: a path that nothing has yet; without one, a new one of its own. */
  constructor(folder) {
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'sonagi-stack-'));
    if (folder) mkdirSync(folder);
    chmodSync(this.folder, 0o711);
    this.sweeper = spawn('sh', ['-c', SWEEP, 'sh', this.folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    this.sweeper.unref();
    this.sweeper.stdin.unref();
    this.sweeper.stdin.on('error', () => {});
  }

  /** A new folder in it for a process that does not run as root. */
  room(name) {
    const path = join(this.folder, name);
    mkdirSync(path, { mode: 0o700 });
    return own(path);
  }

  /** A file in it that such a process may read, and nobody else. */
  file(name, text) {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return own(path);
  }

  /**
   * Starts a program in a session of its own, and not as root unless `asRoot`. `farewell` is the signal that asks it to end, and `widow` the one the kernel
   * sends when this process is gone. What it says is in the file NAME.log.
   */
  start(name, argv, { asRoot = false, farewell = 'SIGTERM', widow = 'KILL', env = {}, cwd = this.folder } = {}) {
    if (this.#isOver) throw new Error(`${name} is not started any more: the stack is being taken down`);
    const log = join(this.folder, `${name}.log`);
    const file = openSync(log, 'a');
    const user = isRoot && !asRoot ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
    const child = spawn('setpriv', [...user, `--pdeathsig=${widow}`, '--', ...argv.map(String)], {
      cwd,
      env: { ...process.env, HOME: this.folder, ...env },
      detached: true,
      stdio: ['ignore', file, file],
    });
    closeSync(file);
    const running = new Running(name, child, log, farewell);
    this.#all.push(running);
    return running;
  }

  /** Takes all of it down, the last first, and the folder with it. */
  end() {
    this.#isOver = true;
    this.#ending ??= (async () => {
      for (const running of this.#all.toReversed()) await running.stop();
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
      this.sweeper.stdin.destroy();
    })();
    return this.#ending;
  }
}

function own(path) {
  if (isRoot) chownSync(path, NOBODY, NOBODY);
  return path;
}

class Running {
  constructor(name, child, log, farewell) {
    Object.assign(this, { name, log, farewell, pid: child.pid });
    this.isAlive = true;
    this.ended = once(child, 'exit').then(([code, signal]) => ((this.isAlive = false), code ?? signal));
    this.ended.catch(() => (this.isAlive = false));
  }

  /** What it has said last. */
  output() {
    return readFileSync(this.log, 'utf8').slice(-1500);
  }

  /** Signals it and what it has started in its group. */
  signal(name) {
    try {
      process.kill(-this.pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }

  /** Asks it to end; kills what is left of it. */
  async stop(signal = this.farewell) {
    if (this.isAlive) {
      try {
        process.kill(this.pid, signal);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
      await Promise.race([this.ended, delay(FAREWELL_MS, undefined, { ref: false })]);
    }
    this.signal('SIGKILL');
    await this.ended;
  }

  /** Waits until `found()` gives something; when this ends meanwhile, that is an error with its last words. */
  async ready(found) {
    for (const until = Date.now() + READY_MS; ; await delay(50)) {
      const result = await found();
      if (result) return result;
      if (!this.isAlive) throw new Error(`${this.name} ended with ${await this.ended}: ${this.output()}`);
      if (Date.now() > until) throw new Error(`${this.name} was not ready in ${READY_MS / 1_000} s: ${this.output()}`);
    }
  }
}
