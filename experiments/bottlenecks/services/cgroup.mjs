// Limits of a cgroup, by version 1 or 2, whichever is there. Making one needs root.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
const isSecond = existsSync(join(ROOT, 'cgroup.controllers'));
let count = 0;

/** Why a cgroup with this controller (cpu, memory) cannot be made here; undefined: it can. */
export function whyNot(controller) {
  if (process.getuid() !== 0) return 'a cgroup needs root';
  try {
    if (isSecond) {
      if (!readFileSync(join(ROOT, 'cgroup.controllers'), 'utf8').split(/\s/).includes(controller)) return `no cgroup controller ${controller} here`;
      writeFileSync(join(ROOT, 'cgroup.subtree_control'), `+${controller}`);
    }
    const folder = folderOf(controller);
    mkdirSync(folder);
    rmdirSync(folder);
  } catch (error) {
    return `cgroups cannot be made here (${error.code})`;
  }
}

function folderOf(controller) {
  count += 1;
  return join(ROOT, ...(isSecond ? [] : [controller]), `sonagi-bottleneck-${process.pid}-${count}`);
}

/** The words in front of a command that put it under a quota of so many cores. */
export const cpuQuota = (started, cores) =>
  within(started, 'cpu', isSecond ? { 'cpu.max': `${cores * 100_000} 100000` } : { 'cpu.cfs_period_us': 100_000, 'cpu.cfs_quota_us': cores * 100_000 });

/** The same for a limit of memory, in MiB, swap included. */
export const memoryLimit = (started, mib) =>
  within(started, 'memory', isSecond ? { 'memory.max': mib << 20, 'memory.swap.max': 0 } : { 'memory.limit_in_bytes': mib << 20 });

function within(started, controller, limits) {
  const folder = folderOf(controller);
  mkdirSync(folder);
  started.atEnd(() => removed(folder));
  for (const [file, value] of Object.entries(limits)) writeFileSync(join(folder, file), String(value));
  return ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', folder];
}

/** Its processes have been killed, but may take a moment to be gone. */
function removed(folder) {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      return rmdirSync(folder);
    } catch (error) {
      if (error.code !== 'EBUSY') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
