// A stack: PostgreSQL, Redis, instances of `sonagi serve`, and nginx in front of them, as Debian's packages have them.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { SONAGI } from '../../../interop/support/process.mjs';
import { freePorts, isOpen } from '../../../interop/support/ports.mjs';
import { Processes } from './processes.mjs';

/** Where a program is. Debian keeps servers where only root looks, PostgreSQL's in a folder of its version. */
export function program(name) {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
  const beside = ['/usr/sbin', ...versions.map((version) => join(debian, version, 'bin'))];
  const found = [...(process.env.PATH ?? '').split(delimiter), ...beside].map((folder) => join(folder, name)).find(existsSync);
  if (!found) throw new Error(`${name} was not found\nhint: scripts/setup.sh installs it, as does apt-get install postgresql redis-server nginx`);
  return found;
}

/** What is started when nothing else is said. */
export const DEFAULTS = { instances: 3, users: 20, grace: '2s', serve: [], postgres: [], bus: true, front: true };

export class Stack {
  #parts = new Map();

  /**
   * Starts one, or leaves nothing. `folder`: where, a path that nothing has yet; `serve`: further flags of every instance; `postgres`:
   * settings of PostgreSQL, as `fsync=off`. Without `bus` there is no Redis, which one instance needs none of; without `front` no nginx.
   */
  static async start({ folder, ...options } = {}) {
    if (!existsSync(SONAGI)) throw new Error(`there is no ${SONAGI}\nhint: cargo build -p sonagi, or SONAGI_BIN=…`);
    const stack = new Stack(new Processes(folder), { ...DEFAULTS, ...options });
    try {
      await stack.#start();
    } catch (error) {
      await stack.end();
      throw error;
    }
    return stack;
  }

  constructor(processes, options) {
    Object.assign(this, { processes, options, folder: processes.folder, postgres: undefined, redis: undefined, status: undefined, instances: [] });
  }

  async #start() {
    const { instances, bus, front } = this.options;
    const [redis, postgres, nginx, status, ...ports] = await freePorts(4 + instances);
    await Promise.all([this.#startPostgres(postgres), bus && this.#startRedis(redis)]);
    // Several instances are one service by what they have in common.
    const shared = ['--store', this.postgres, ...(bus ? ['--bus', this.redis] : [])];
    // The first makes the tables and the users that the others find.
    await this.#startInstance(1, ports[0], shared);
    await Promise.all(ports.slice(1).map((port, at) => this.#startInstance(at + 2, port, shared)));
    if (front) await this.#startNginx(nginx, status, ports);
    else this.url = this.instances[0];
    this.watch = [...(this.status ? [this.status] : []), ...(bus ? [this.redis] : []), this.postgres];
  }

  async #startPostgres(port) {
    const folder = this.processes.room('postgres');
    const password = randomBytes(12).toString('hex');
    const passwordFile = this.processes.file('postgres-password', password);
    const words = ['-D', folder, '-U', 'sonagi', '-A', 'scram-sha-256', '--no-sync', '-E', 'UTF8', `--pwfile=${passwordFile}`];
    const made = this.processes.start('initdb', [program('initdb'), ...words], { env: { LC_ALL: 'C.UTF-8' } });
    if ((await made.ended) !== 0) throw new Error(`initdb failed: ${made.output()}`);
    rmSync(passwordFile);
    const settings = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`, 'dynamic_shared_memory_type=mmap'];
    const argv = [program('postgres'), '-D', folder, ...[...settings, ...this.options.postgres].flatMap((setting) => ['-c', setting])];
    // SIGINT ends its sessions first. When we are killed, SIGQUIT: it still ends its own processes and gives its memory back.
    const options = { farewell: 'SIGINT', widow: 'QUIT', env: { LC_ALL: 'C.UTF-8' } };
    this.postgres = `postgres://sonagi:${password}@127.0.0.1:${port}/postgres`;
    const isReady = () => isAccepting(port);
    await this.#part('postgres', argv, options, isReady);
  }

  async #startRedis(port) {
    const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: this.processes.room('redis') };
    const argv = [program('redis-server'), ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])];
    this.redis = `redis://127.0.0.1:${port}`;
    await this.#part('redis', argv, {}, () => isOpen(port));
  }

  async #startInstance(number, port, shared) {
    const { users, grace, serve } = this.options;
    const flags = ['--listen', `127.0.0.1:${port}`, '--instance', number, '--seed-users', users, '--grace', grace, ...shared, ...serve];
    const url = `http://127.0.0.1:${port}`;
    this.instances[number - 1] = url;
    const isReady = () => fetch(`${url}/healthz`).then(({ ok }) => ok, () => false);
    await this.#part(`instance-${number}`, [SONAGI, 'serve', ...flags], { asRoot: true }, isReady);
  }

  async #startNginx(port, status, ports) {
    const folder = this.processes.room('nginx');
    const words = ['serve', '--listen', `127.0.0.1:${port}`, '--print-nginx', '--instances', ports.map((port) => `127.0.0.1:${port}`).join(',')];
    const printed = execFileSync(SONAGI, words, { encoding: 'utf8' });
    // As it is printed, and what a machine has and a folder has not: a place for temporary files. And a page for watching.
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
    const page = `server { listen 127.0.0.1:${status}; location = /status { stub_status; } }`;
    const [before, after] = printed.split('\nhttp {\n');
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, [`${before}\nhttp {`, ...temporary, page, after].join('\n'));
    const log = join(folder, 'error.log');
    const argv = [program('nginx'), '-p', folder, '-c', file, '-e', log, '-g', `daemon off; pid ${folder}/nginx.pid;`];
    this.url = `http://127.0.0.1:${port}`;
    // SIGQUIT would wait for every WebSocket. Killed, its workers would live on: it is always asked.
    await this.#part('nginx', argv, { widow: 'TERM' }, () => isOpen(port));
    this.status = `nginx:http://127.0.0.1:${status}/status#log=${log}`;
  }

  async #part(name, argv, options, isReady) {
    const running = this.processes.start(name, argv, options);
    this.#parts.set(name, { running, again: () => this.#part(name, argv, options, isReady) });
    await running.ready(isReady);
  }

  /** What there is to know of it, for people and programs. */
  get addresses() {
    const { url, instances, postgres, redis, watch, folder } = this;
    const pids = Object.fromEntries([...this.#parts].map(([name, { running }]) => [name, running.pid]));
    return { url, instances, postgres, redis, watch, folder, pids };
  }

  /** The same for a command's environment: STACK_URL, STACK_INSTANCES (with commas), STACK_POSTGRES, STACK_REDIS, STACK_FOLDER. */
  get environment() {
    const { url, instances, postgres, redis, folder } = this;
    const names = { URL: url, INSTANCES: instances.join(','), POSTGRES: postgres, REDIS: redis, FOLDER: folder };
    return { SONAGI_BIN: SONAGI, ...Object.fromEntries(Object.entries(names).map(([name, value]) => [`STACK_${name}`, value])) };
  }

  /** Ends a part, by its name in `pids`: by a signal, or as it wants to be asked. Its exit code, or the signal that ended it. */
  async stop(name, signal) {
    const { running } = this.#parts.get(name);
    if (signal === 'SIGKILL') running.signal('SIGKILL');
    await running.stop(signal);
    return running.ended;
  }

  /** Starts a part again that has ended, at its old address. */
  async again(name) {
    await this.#parts.get(name).again();
  }

  end() {
    return this.processes.end();
  }
}

/** Whether PostgreSQL takes sessions: it listens before it does. */
function isAccepting(port) {
  try {
    execFileSync(program('pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
