// Time that other virtual machines took from this one.
import { readFileSync } from 'node:fs';

/** What `/proc/stat` has counted since the machine began, in ticks: of all its cores, and of them stolen (proc_stat(5)). */
export function ticks(stat) {
  const counts = stat.match(/^cpu +(.+)$/m)[1].split(/ +/).map(Number);
  // Behind the eighth stand guests, whose time is in the first two as well.
  const own = counts.slice(0, 8);
  return { all: own.reduce((sum, count) => sum + count, 0), stolen: own[7] ?? 0 };
}

/** Calls it, and says with its result which share of the machine's time was stolen meanwhile. */
export async function withStolen(call) {
  const now = () => ticks(readFileSync('/proc/stat', 'utf8'));
  const before = now();
  const result = await call();
  const after = now();
  return { result, stolen: (after.stolen - before.stolen) / Math.max(1, after.all - before.all) };
}

/**
 * Calls it until `wanted` calls had no more than `share` of the machine's time stolen, `at_most` times in all: `chosen`,
 * as many with the least of it, least first, and `all`, each as `withStolen` gives it. None is chosen by its result.
 */
export async function quietest(call, { wanted = 1, at_most, share = 0.003, measured = withStolen }) {
  const all = [];
  const quiet = () => all.filter(({ stolen }) => stolen <= share).length;
  while (all.length < at_most && quiet() < wanted) all.push(await measured(call));
  const chosen = [...all].sort((a, b) => a.stolen - b.stolen).slice(0, wanted);
  return { chosen, all };
}
