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
 * Of the living tree with `pid` as its root: `{ rss_mb, below_mb, cpu_s }`; `below_mb` is without the root, and the CPU time
 * of what its processes waited for is included. Zeroes when it is gone.
 */
export function sampleTree(pid) {
  let rss_kb = 0;
  let below_kb = 0;
  let ticks = 0;
  for (const one of tree(pid)) {
    const now = stat(one);
    if (!now) continue;
    ticks += now.utime + now.stime + now.cutime + now.cstime;
    const resident = statusKb(one, 'VmRSS');
    rss_kb += resident;
    if (one !== pid) below_kb += resident;
  }
  return { rss_mb: rss_kb / 1024, below_mb: below_kb / 1024, cpu_s: ticks / TICKS_PER_S };
}

/** The most memory this one process ever had resident, in MB; 0 when it is gone. */
export const highWaterMb = (pid) => statusKb(pid, 'VmHWM') / 1024;

function tree(pid) {
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
  for (const one of tree(pid).reverse()) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
