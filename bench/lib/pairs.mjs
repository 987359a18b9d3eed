// Two ways to run the same, in turn: the rounds of a pair follow one another, their order changes from pair to pair, and a pair
// is one ratio. What the machine does beside it in minutes is in both of its halves.
import { median } from './statistics.mjs';

/** Runs `rounds` pairs of `one(false)` and `one(true)`, each of which gives figures by name; `tell` is told of each pair. */
export async function pairs(rounds, one, tell) {
  const all = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [false, true] : [true, false];
    const figures = new Map();
    for (const way of order) figures.set(way, await one(way));
    all.push([figures.get(false), figures.get(true)]);
    tell(round + 1, figures.get(false), figures.get(true));
  }
  return all;
}

/** `1.008 (0.969–1.044)`: the median of the pairs' ratios of a figure, with their range. */
export function ratio(all, figure) {
  const ratios = all.map(([without, with_]) => with_[figure] / without[figure]);
  return `${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)}–${Math.max(...ratios).toFixed(3)})`;
}
