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

/**
 * `0.998 (95 %: 0.994–1.002)`: the middle of the mean logarithms of two pairs' ratios each (Hodges–Lehmann), with the interval that
 * Wilcoxon's signed ranks give it. A pair in which the machine changed its speed pulls it no further than any other. For thirty pairs
 * or more: the ranks are taken as normal. If the second of a pair had several doses of what is tried, it is the ratio of one dose.
 */
export function estimate(all, figure, { doses = 1 } = {}) {
  const logs = all.map(([without, with_]) => Math.log(with_[figure] / without[figure]) / doses);
  const means = logs.flatMap((one, at) => logs.slice(at).map((other) => (one + other) / 2)).sort((a, b) => a - b);
  const count = logs.length;
  const outside = Math.floor(means.length / 2 - 1.96 * Math.sqrt((count * (count + 1) * (2 * count + 1)) / 24));
  const shown = (log) => Math.exp(log).toFixed(doses > 1 ? 4 : 3);
  return `${shown(median(means))} (95 %: ${shown(means[outside])}–${shown(means[means.length - 1 - outside])})`;
}
