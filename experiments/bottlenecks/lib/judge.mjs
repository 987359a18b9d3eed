// How a diagnosis is held against what was planted. Nothing here reads or runs anything.

/** The runs of a plant, the healthy twin's last. Seeds of calibration are odd, those of judging even: no run is used for both. */
export function runs({ planted, healthy }, size) {
  const seed = (at) => 2 * at + (size === 'judge' ? 2 : 1);
  const row = (planted, count) => Array.from({ length: count }, (_, at) => ({ planted, seed: seed(at) }));
  return [...row(true, planted), ...row(false, healthy)];
}

/** What a diagnosis says of a planted cause: `first`, `second`, `later`, `not named`. */
export function place({ findings }, expects) {
  const at = findings.findIndex(({ id }) => id === expects);
  return ['first', 'second'][at] ?? (at < 0 ? 'not named' : 'later');
}

/** The cause that a diagnosis names first; undefined: none. */
export const accused = ({ findings }) => findings[0]?.id;

/** Causes that lie with the machine the tests run on, not with the service: a machine that others use may well be accused. */
const MACHINE = ['generator', 'neighbour', 'steal'];

/** All runs of a plant: how often it was named where, how often its twin was accused, and of what. */
export function judged({ plant, runs }) {
  const done = runs.filter(({ error }) => error === undefined);
  const [planted, healthy] = [done.filter(({ planted }) => planted), done.filter(({ planted }) => !planted)];
  const places = planted.map(({ diagnosis }) => place(diagnosis, plant.expects));
  const count = (where) => places.filter((place) => place === where).length;
  const instead = planted.map(({ diagnosis }) => accused(diagnosis)).filter((id) => id !== plant.expects);
  const wrongly = healthy.map(({ diagnosis }) => accused(diagnosis)).filter((id) => id !== undefined);
  const first = count('first');
  return {
    planted: planted.length,
    first,
    second: count('second'),
    not: planted.length - first - count('second'),
    instead: [...new Set(instead.map((id) => id ?? 'nothing'))],
    healthy: healthy.length,
    wrongly,
    failed: runs.length - done.length,
    isAsWanted: first === planted.length && wrongly.every((id) => MACHINE.includes(id)) && done.length === runs.length,
  };
}
