// A running target: started on its own core, asked for its own figures, ended with the case.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { metricsOf } from './metrics.mjs';
import { kill, sampleTree } from './processes.mjs';
import { remember } from './started.mjs';

const READY = /listening on (http:\/\/[\d.]+:(\d+))/;
/** What a target that is several programs says before that: where they are, in JSON. */
const ADDRESSES = /^addresses (\{.*\})$/m;
const READY_WITHIN_MS = 20_000;
const FAREWELL_MS = 5000;

export class Target {
  /** Starts it and waits for its line. `kind` is a file of targets/. */
  static async start(kind, cache, cores) {
    const argv = kind.argv(cache).map(String);
    const child = spawn('taskset', ['-c', cores, ...argv], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...kind.env } });
    // Those below a keeper end by themselves once it is gone: a database that is killed would leave memory behind.
    const forget = kind.keeps ? remember(child.pid, kill) : remember(child.pid);
    const ended = once(child, 'close').catch((error) => [error.message]).finally(forget);
    let said = '';
    const match = await new Promise((resolve, reject) => {
      const overdue = setTimeout(() => reject(new Error(`the target ${kind.name} was not ready: ${said.slice(-400)}`)), kind.ready_ms ?? READY_WITHIN_MS);
      const hear = (text) => {
        said = (said + text).slice(-4000);
        const found = said.match(READY);
        if (found) (clearTimeout(overdue), resolve(found));
      };
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
      ended.then(([code]) => (clearTimeout(overdue), reject(new Error(`the target ${kind.name} ended with ${code}: ${said.slice(-400)}`))));
    }).catch((error) => {
      child.kill('SIGKILL');
      throw error;
    });
    return new Target(kind, child, ended, argv, match, said.match(ADDRESSES)?.[1]);
  }

  constructor(kind, child, ended, argv, [, url, port], addresses) {
    Object.assign(this, { kind, name: kind.name, pid: child.pid, url, port: Number(port), argv, addresses: addresses && JSON.parse(addresses) });
    this.#child = child;
    this.#ended = ended;
  }

  #child;
  #ended;

  get alive() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** `{ rss_mb, cpu_s }` now. */
  sample() {
    return sampleTree(this.pid);
  }

  /** What it says of itself, where it does; else null. */
  async stats() {
    const { stats, metrics } = this.kind;
    const ask = (path) => fetch(this.url + path, { headers: { connection: 'close' } });
    if (stats) return (await ask('/null/stats')).json();
    return metrics ? metricsOf(await (await ask('/metrics')).text(), metrics) : null;
  }

  /** Zeroes what it says of itself; what it tells at /metrics goes on: cases that look at that begin with a new process. */
  async reset() {
    if (this.kind.stats) await (await fetch(`${this.url}/null/reset`, { method: 'POST', headers: { connection: 'close' } })).arrayBuffer();
  }

  async stop() {
    this.#child.stdin.end();
    this.#child.kill('SIGTERM');
    const overdue = setTimeout(() => this.#child.kill('SIGKILL'), this.kind.farewell_ms ?? FAREWELL_MS);
    await this.#ended;
    clearTimeout(overdue);
  }
}
