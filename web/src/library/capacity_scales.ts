// Scales of a search's charts: where a value stands, and the round numbers beside it.

export interface Scale {
  place: (value: number) => number;
  ticks: number[];
}

/**
 * A logarithmic scale that has all these values in it, with round numbers: 1, 2 and 5 of each power of ten. What is not
 * above 0 stands where it begins.
 */
export function logarithmic(values: number[], from: number, to: number): Scale {
  const positive = values.filter(value => value > 0);
  if (positive.length === 0) return { place: () => from, ticks: [] };
  const least = Math.min(...positive) / 1.3;
  const most = Math.max(...positive, least * 2) * 1.3;
  const part = (value: number) => Math.log(Math.max(value, least) / least) / Math.log(most / least);
  const powers = [];
  for (let power = 10 ** Math.floor(Math.log10(least)); power <= most; power *= 10) powers.push(power);
  const steps = most / least > 2_000 ? [1] : [1, 2, 5];
  const round = powers.flatMap(power => steps.map(step => step * power));
  const ticks = round.filter(tick => tick >= least && tick <= most);
  return { place: value => from + (to - from) * part(value), ticks };
}

/** Where a scale of shares may begin. */
const BEGINNINGS = [0.99, 0.9, 0.5, 0];
const STEPS = 5;

/** A scale that ends at all of a whole, and begins right below the least of these shares: 99.5 % is not 100 %. */
export function ofShares(values: number[], from: number, to: number): Scale {
  const least = Math.min(...values);
  const begin = BEGINNINGS.find(beginning => beginning <= least) ?? 0;
  const ticks = Array.from({ length: STEPS + 1 }, (_, step) => begin + ((1 - begin) * step) / STEPS);
  return { place: value => from + ((to - from) * (value - begin)) / (1 - begin), ticks };
}
