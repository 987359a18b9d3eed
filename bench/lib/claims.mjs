// Judges what a case claims from the medians of its rows. A claim says one thing: a figure is at least or at most a bound.

/**
 * Judges one claim: `{ verdict: 'met' | 'not met' | 'not judged', figure, of, against, why }`.
 * `rows` maps a contestant's name to its summaries; `measures` says of each measure whether `higher` or `lower` is better.
 */
export function judge(claim, rows, measures) {
  const of = pick(claim.of, claim.measure, rows, measures);
  if (!of) return unjudged(claim.of);
  const against = claim.against && pick(claim.against, claim.measure, rows, measures);
  if (claim.against && !against) return unjudged(claim.against);
  const figure = against ? of.value / against.value : of.value;
  if (!Number.isFinite(figure)) return { verdict: 'not judged', why: `${claim.measure} of ${against?.name ?? of.name} is ${against?.value ?? of.value}` };
  const met = claim.atLeast === undefined ? figure <= claim.atMost : figure >= claim.atLeast;
  return { verdict: met ? 'met' : 'not met', figure, of: of.name, against: against?.name };
}

const unjudged = (names) => ({ verdict: 'not judged', why: `no figure of ${[names].flat().join(', ')}` });

/** The row of that name that has the measure; of several the best. */
function pick(names, measure, rows, measures) {
  const found = [names].flat()
    .map((name) => ({ name, value: rows[name]?.[measure]?.median }))
    .filter(({ value }) => value !== undefined);
  const sign = measures[measure]?.better === 'higher' ? -1 : 1;
  return found.sort((a, b) => sign * (a.value - b.value))[0];
}
