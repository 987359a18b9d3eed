// A target that is several programs (targets/stacks.mjs), seen part by part.
import { sampleTree } from './processes.mjs';

/** CPU seconds so far of the target's parts whose names begin with one of `names`, by that name; of a part that is not there, 0. */
export function cpuOf({ addresses: { pids } }, names) {
  const of = (name) => Object.entries(pids).filter(([part]) => part.startsWith(name)).reduce((sum, [, pid]) => sum + sampleTree(pid).cpu_s, 0);
  return Object.fromEntries(names.map((name) => [name, of(name)]));
}

/** What each has used between two of those. */
export const used = (before, after) => Object.fromEntries(Object.entries(after).map(([name, cpu_s]) => [name, cpu_s - before[name]]));
