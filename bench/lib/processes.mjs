// What /proc says about a process and its descendants. Linux only, like everything measured here.
import { readFileSync, readdirSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const TICKS_PER_S = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU seconds (user + system) of all descendants of this process that have ended and were waited for. */
export function endedChildrenCpu() {
  const { cutime, cstime } = stat('self');
  return (cutime + cstime) / TICKS_PER_S;
}

/**
 * Of the living tree with `pid` as its root: `{ rss_mb, below_mb, cpu_s }`; `below_mb` is the most that those below
 * the root ever had, and the CPU time of what its processes waited for is included. Zeroes when it is gone.
 */
export function sampleTree(pid) {
  let rss_kb = 0;
  let below_kb = 0;
  let cpu_s = 0;
  for (const one of tree(pid)) {
    const now = stat(one);
    if (!now) continue;
    // Ticks are coarse and count threads that have ended; the scheduler's sum is exact and of the living. Neither is too much.
    cpu_s += Math.max((now.utime + now.stime) / TICKS_PER_S, scheduled(one)) + (now.cutime + now.cstime) / TICKS_PER_S;
    rss_kb += statusKb(one, 'VmRSS');
    if (one !== pid) below_kb += statusKb(one, 'VmHWM');
  }
  return { rss_mb: rss_kb / 1024, below_mb: below_kb / 1024, cpu_s };
}

/** The most memory this one process ever had resident, in MB; 0 when it is gone. */
export const highWaterMb = (pid) => statusKb(pid, 'VmHWM') / 1024;

/** The process and all below it. */
export function tree(pid) {
  const found = [pid];
  // The list grows while it is walked: children of children.
  for (const parent of found) {
    for (const task of tasks(parent)) found.push(...task);
  }
  return found;
}

function* tasks(pid) {
  // Children hang on the thread that made them.
  for (const tid of threads(pid)) {
    const children = read(`/proc/${pid}/task/${tid}/children`).trim();
    if (children) yield children.split(' ').map(Number);
  }
}

function threads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function stat(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (!text) return undefined;
  // The second field is the command in brackets and may hold spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
  return { utime, stime, cutime, cstime };
}

/** CPU seconds of a process's living threads, to the nanosecond; 0 where the kernel does not tell. */
function scheduled(pid) {
  let ns = 0;
  for (const tid of threads(pid)) ns += Number(read(`/proc/${pid}/task/${tid}/schedstat`).split(' ')[0]) || 0;
  return ns / 1e9;
}

const statusKb = (pid, key) => Number(read(`/proc/${pid}/status`).match(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm'))?.[1] ?? 0);

/** The file's text; empty when the process is gone. */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Ends a process and its descendants at once. */
export function killTree(pid) {
  // The root first: it must not see a child end and go on to the next.
  tree(pid).forEach(kill);
}

/** Ends a process at once, and not those below it, which end by themselves when it is gone, each in its own way. */
export function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
