// After `kill -9` of Sonagi nothing of its service is left: no process, no control group, no port.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isOpen } from '../../../interop/support/ports.mjs';
import { launched } from '../lib/launched.mjs';

/** The service's grace is a second; what is left of it then is killed. */
const GONE_MS = 6_000;
const LIMITS = { cpu: 0.5, memory: '500 MB', network: { latency: '5ms' } };

export async function* killed(started) {
  const run = await launched(started, { kind: 'tree', launch: { limits: LIMITS }, seconds: 60 });
  const below = descendants(run.pid);
  const groups = [...new Set(below.flatMap(({ pid }) => groupsOf(pid)))];
  const ports = [run.port, run.address];
  const count = async () => ({
    processes: below.filter(isAlive).length,
    groups: groups.filter((group) => existsSync(group)).length,
    ports: (await Promise.all(ports.map(isOpen))).filter(Boolean).length,
  });
  const before = await count();
  process.kill(run.pid, 'SIGKILL');
  const began = performance.now();
  let left;
  do {
    await delay(50);
    left = await count();
  } while (left.processes + left.groups + left.ports > 0 && performance.now() - began < GONE_MS);
  const after = `after ${((performance.now() - began) / 1e3).toFixed(1)} s`;
  for (const [what, some] of Object.entries(left)) {
    // Without any before, none left would say nothing.
    const isHeld = some === 0 && before[what] > 0;
    yield { what: `kill -9: ${what} left of ${before[what]}`, asked: '0', got: `${some} ${after}`, isHeld };
  }
}

/** `{ parent, started }` of a process; undefined: there is none. */
function stat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in brackets and may hold spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : { parent: Number(fields[1]), started: fields[19] };
  } catch {
    return undefined;
  }
}

/** A number may be another's by now: when it was started says which process it is. */
const isAlive = ({ pid, started }) => stat(pid)?.started === started;

function descendants(root) {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);
  const all = numbers.map((pid) => ({ pid, ...stat(pid) }));
  const found = [root];
  for (const parent of found) found.push(...all.filter((one) => one.parent === parent).map(({ pid }) => pid));
  return all.filter(({ pid, started }) => started && pid !== root && found.includes(pid));
}

/** The folders of our control groups that a process is in. */
function groupsOf(pid) {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n');
  const parts = lines.map((line) => line.split(':'));
  const folders = parts.map(([, controllers, path]) => join('/sys/fs/cgroup', controllers, path));
  return folders.filter((folder) => folder.includes('/sonagi-') && existsSync(folder));
}
