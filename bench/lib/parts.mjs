// A target that is several programs (targets/stacks.mjs), seen part by part.
import { sampleTree } from './processes.mjs';

/** CPU seconds so far, by each of `names`, of the target's parts whose names begin with it; 0 where there is none. */
export function cpuOf({ addresses: { pids } }, names) {
  const of = (name) => Object.entries(pids).filter(([part]) => part.startsWith(name)).map(([, pid]) => sampleTree(pid));
  return Object.fromEntries(names.map((name) => [name, of(name).reduce((sum, { cpu_s }) => sum + cpu_s, 0)]));
}

/** What each has used between two of those. */
export const used = (before, after) =>
  Object.fromEntries(Object.entries(after).map(([name, cpu_s]) => [name, cpu_s - before[name]]));
