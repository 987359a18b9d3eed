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
