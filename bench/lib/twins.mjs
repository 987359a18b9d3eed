// Two builds of Sonagi in one run: each row of ours gets a twin, the same command given to the other binary.
import { BINARY, name as OURS } from '../tools/sonagi.mjs';

/** What a twin's name ends with. */
export const SUFFIX = ', before';

/**
 * `contestants` with a twin behind each row of ours, run by the binary `rival`; as they are without one. Both take part in
 * every round, so that what is compared was measured side by side.
 */
export function twinned(contestants, rival) {
  if (!rival) return contestants;
  return contestants.flatMap((one) => (one.tool === OURS ? [{ ...one, rounds: undefined }, twin(one, rival)] : [one]));
}

const twin = (one, rival) => ({
  ...one,
  name: `${one.name}${SUFFIX}`,
  beside: one.name,
  rounds: undefined,
  command: (context) => {
    const invocation = one.command(context);
    return { ...invocation, argv: invocation.argv.map((word) => (word === BINARY ? rival : word)) };
  },
  // What is reckoned from another row of ours is reckoned from that row's twin.
  measure: (report, outcome) => one.measure(report, { ...outcome, latest: (name) => outcome.latest(`${name}${SUFFIX}`) ?? outcome.latest(name) }),
});
