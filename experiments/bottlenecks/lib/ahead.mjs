// Puts this process, and all it starts, before whatever else the machine does: what is measured here are planted causes, not the
// neighbours of the day. Root alone can; without, or without cgroups, nothing is changed.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
const isSecond = existsSync(join(ROOT, 'cgroup.controllers'));

/** Moves this process into a cgroup with the largest share of the CPU, and back when it exits: whether that was done. */
export function goAhead() {
  const base = isSecond ? ROOT : join(ROOT, 'cpu');
  const folder = join(base, `sonagi-bottlenecks-${process.pid}`);
  try {
    const before = join(base, ownGroup());
    if (isSecond) writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+cpu');
    mkdirSync(folder);
    process.once('exit', () => {
      writeFileSync(join(before, 'cgroup.procs'), String(process.pid));
      // What was killed a moment ago may still be in it.
      for (let attempt = 0; attempt < 50 && !removed(folder); attempt++) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    });
    writeFileSync(join(folder, isSecond ? 'cpu.weight' : 'cpu.shares'), isSecond ? '10000' : '262144');
    writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
    return true;
  } catch {
    return false;
  }
}

/** The path of this process's cgroup, below the hierarchy's root. */
function ownGroup() {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n').map((line) => line.split(':'));
  const [, , path] = lines.find(([, controllers]) => (isSecond ? controllers === '' : controllers?.split(',').includes('cpu')));
  return path;
}

function removed(folder) {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
