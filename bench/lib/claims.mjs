// Judges what a case claims from its rows. A claim says one thing: a figure is at least or at most a bound.

/**
 * Judges one claim: `{ verdict: 'met' | 'not met' | 'not judged', figure, of, against, why, short, capped }`.
 * `rows` maps a contestant's name to its summaries; `measures` says of each measure whether `higher` or `lower` is better;
 * `counts` maps a name to `{ runs, failed, short }`. Medians are judged, but with `worst: true` the worst run of *of*: that
 * nothing was ever missed cannot be seen in a median. A figure above a claim's `cap` is told as
 * the cap. A row that failed once judges nothing; runs that fell short are told.
 */
export function judge(claim, rows, measures, counts = {}) {
  const names = [claim.of, claim.against ?? []].flat();
  const failing = names.find((name) => counts[name]?.failed > 0);
  if (failing) return { verdict: 'not judged', why: `${counts[failing].failed} of ${counts[failing].runs} runs of ${failing} failed` };
  const of = pick(claim.of, claim, rows, measures);
  if (!of) return unjudged(claim.of);
  const against = claim.against && pick(claim.against, { ...claim, worst: false }, rows, measures);
  if (claim.against && !against) return unjudged(claim.against);
  const figure = against ? of.value / against.value : of.value;
  if (!Number.isFinite(figure)) return { verdict: 'not judged', why: `${claim.measure} of ${against?.name ?? of.name} is ${against?.value ?? of.value}` };
  const capped = figure > claim.cap;
  const met = claim.atLeast === undefined ? figure <= claim.atMost : figure >= claim.atLeast;
  const short = [of, against].filter((row) => row && counts[row.name]?.short > 0).map(({ name }) => `${name} fell short in ${counts[name].short} of ${counts[name].runs} runs`);
  return { verdict: met ? 'met' : 'not met', figure: capped ? claim.cap : figure, of: of.name, against: against?.name, ...(capped && { capped }), ...(short.length > 0 && { short: short.join('; ') }) };
}

const unjudged = (names) => ({ verdict: 'not judged', why: `no figure of ${[names].flat().join(', ')}` });

/** The row of that name that has the measure; of several the best. */
function pick(names, { measure, worst, atLeast }, rows, measures) {
  const figure = worst ? (atLeast === undefined ? 'max' : 'min') : 'median';
  const found = [names].flat()
    .map((name) => ({ name, value: rows[name]?.[measure]?.[figure] }))
    .filter(({ value }) => value !== undefined);
  const sign = measures[measure]?.better === 'higher' ? -1 : 1;
  return found.sort((a, b) => sign * (a.value - b.value))[0];
}
