// A tool's report (`-o`), put so that two reports of one script can be compared: counts as they are, rates and times as far as
// two runs can agree.

/**
 * `{counter, rate, summary, times, report}`: counters and rates with their values, summaries with their counts and with two of
 * their times, and what the report itself is made of.
 */
export function figures({ aggregate, intermediate = [] } = {}) {
  const { counters = {}, rates = {}, summaries = {} } = aggregate ?? {};
  return {
    counter: sorted(counters, (value) => value),
    rate: sorted(rates, (value) => value),
    summary: sorted(summaries, ({ count }) => count),
    times: sorted(summaries, ({ min, median }) => ({ min, median })),
    report: aggregate ? made(aggregate, intermediate) : {},
  };
}

/** Which members a report, its periods and its summaries have, and whether the periods add up to the whole. */
function made(aggregate, intermediate) {
  return {
    aggregate: members([aggregate]),
    period: members(intermediate),
    summary: members([aggregate, ...intermediate].flatMap(({ summaries = {} }) => Object.values(summaries))),
    sums: unlike(aggregate.counters ?? {}, intermediate),
  };
}

/** One without a value is none: of a rate in a period Artillery leaves such a one behind. */
const members = (of) => [...new Set(of.flatMap((one) => Object.keys(one).filter((name) => one[name] !== null)))].sort(compare);

/** Counters whose periods add up to something else, with the sum; those that no period has count as 0. */
function unlike(counters, intermediate) {
  const sums = {};
  for (const { counters: of = {} } of intermediate) for (const [name, value] of Object.entries(of)) sums[name] = (sums[name] ?? 0) + value;
  const names = [...new Set([...Object.keys(counters), ...Object.keys(sums)])].sort(compare);
  return names.filter((name) => (counters[name] ?? 0) !== (sums[name] ?? 0)).map((name) => `${name}: ${sums[name] ?? 0}`);
}

const sorted = (record, of) => Object.fromEntries(Object.entries(record).sort(([a], [b]) => compare(a, b)).map(([name, value]) => [name, of(value)]));

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** What a busy machine may easily add to any time, in milliseconds. */
const SLACK_MS = 250;

/** Times of two runs: neither is more than half as long again as the other, what a busy machine adds left aside. */
export const alike = (a, b) => Math.abs(a - b) <= SLACK_MS || Math.max(a, b) <= 1.5 * Math.min(a, b);

/**
 * Rates of two runs whose requests come evenly. Artillery rounds to whole ones, and takes the time from a period's first request to
 * its last, Sonagi the whole run.
 */
export const asOften = (a, b) => Math.abs(a - b) <= 1 || Math.max(a, b) <= 2 * Math.min(a, b);
