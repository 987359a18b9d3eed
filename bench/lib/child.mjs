// Runs one contestant to its end and says what it cost: the tool's CPU and memory, and the target's meanwhile.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { endedChildrenCpu, highWaterMb, sampleTree, killTree } from './processes.mjs';
import { remember } from './started.mjs';

/** Longest output kept of one stream, in characters: a tool's report, not its log. */
const OUTPUT_LIMIT = 64 * 1024 * 1024;

/**
 * Starts `argv` on `cores` and waits for its end: `{ code, stdout, stderr, overdue, wall_s, cpu_s, peak_mb, peak_below_mb, samples, during }`;
 * `overdue` when it was ended because it did not end by itself.
 * Only one child may end meanwhile: CPU is told apart by time, not by process. `beside(child)` runs until the child ends;
 * `child` is `{ pid, sample(), wait(ms) }`.
 */
export async function runToEnd({ argv, env, cwd }, { cores, timeout_s, sample_ms, beside }) {
  const cpuBefore = endedChildrenCpu();
  const started = performance.now();
  const child = spawn('taskset', ['-c', cores, ...argv.map(String)], { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) };
  const over = new AbortController();
  const ended = once(child, 'close').finally(() => over.abort());
  const forget = remember(child.pid);
  let overdue = false;
  const patience = setTimeout(() => {
    overdue = true;
    killTree(child.pid);
  }, timeout_s * 1000);
  const memory = new Memory(child.pid, started);
  const sampling = memory.watch(sample_ms, over.signal);
  const wait = (ms) => delay(ms, true, { signal: over.signal }).catch(() => false);
  const during = beside && beside({ pid: child.pid, sample: () => memory.sample(), wait });
  // Awaited below; until then nobody else hears of what it throws, and an unheard rejection ends the bench.
  during?.catch(() => {});
  const [code, signal] = await ended.finally(() => (clearTimeout(patience), forget()));
  const wall_s = (performance.now() - started) / 1000;
  await sampling;
  return {
    code: code ?? signal,
    overdue,
    stdout: output.stdout(),
    stderr: output.stderr(),
    wall_s,
    cpu_s: endedChildrenCpu() - cpuBefore,
    peak_mb: memory.peak_mb,
    peak_below_mb: memory.peak_below_mb,
    samples: memory.samples,
    during: await during,
  };
}

class Memory {
  samples = [];
  peak_mb = 0;
  peak_below_mb = 0;

  constructor(pid, started) {
    this.pid = pid;
    this.started = started;
  }

  /** `{ at_s, rss_mb, cpu_s }` of the tree now. */
  sample() {
    const sample = { at_s: (performance.now() - this.started) / 1000, ...sampleTree(this.pid) };
    this.peak_mb = Math.max(this.peak_mb, sample.rss_mb, highWaterMb(this.pid));
    this.peak_below_mb = Math.max(this.peak_below_mb, sample.below_mb);
    return sample;
  }

  /** Samples until told to stop; densely at first, so that a program that lives for milliseconds is seen, too. */
  async watch(sample_ms, signal) {
    for (let every = Math.min(2, sample_ms); !signal.aborted; every = Math.min(every * 1.2, sample_ms)) {
      this.samples.push(this.sample());
      await delay(every, undefined, { signal }).catch(() => {});
    }
  }
}

/** Collects a stream's text; a function that says what came. */
function collect(stream) {
  const parts = [];
  let length = 0;
  stream.setEncoding('utf8').on('data', (text) => {
    length += text.length;
    if (length <= OUTPUT_LIMIT) parts.push(text);
  });
  return () => parts.join('');
}
