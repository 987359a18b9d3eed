// Whether any process of a stack grows: pure, on the census of each moment.
import { grew, growth } from './growth.mjs';

/** What is judged of each process. The rule is that of memory for all: more than one, and more than a twentieth. */
export const HELD = { mb: 'MB', descriptors: 'descriptors', threads: 'threads' };

/**
 * `moments` are `[{ at_s, processes }]` (census.mjs). Gives `rows`, one for each process that lived long enough to be
 * judged: `{ key, role, held: { mb: { from, to, grown, grew, per_hour }, … } }`; the keys of the others as `short`;
 * and `counts`, the same of how many there were of each role. A process is judged from `settled_s` after it was first seen.
 */
export function growths(moments, settled_s) {
  const lives = new Map();
  for (const { at_s, processes } of moments) {
    for (const one of processes) {
      if (!lives.has(one.key)) lives.set(one.key, { key: one.key, role: one.role, seen: [] });
      lives.get(one.key).seen.push({ at_s, ...one });
    }
  }
  const rows = [...lives.values()].map(({ key, role, seen }) => {
    // Who was there from the first moment on is as old as the load.
    const born_s = seen[0].at_s === moments[0].at_s ? 0 : seen[0].at_s;
    const of = (name) => judged(seen, (one) => one[name], born_s + settled_s);
    return { key, role, held: Object.fromEntries(Object.keys(HELD).map((name) => [name, of(name)])) };
  });
  const roles = [...new Set(rows.map(({ role }) => role))];
  const countOf = (role) => (moment) => moment.processes.filter((one) => one.role === role).length;
  return {
    rows: rows.filter(({ held }) => held.mb),
    short: rows.filter(({ held }) => !held.mb).map(({ key }) => key),
    counts: Object.fromEntries(roles.map((role) => [role, judged(moments, countOf(role), settled_s)])),
  };
}

/** Of a figure; undefined when too little is left to judge. */
function judged(seen, of, settled_s) {
  const found = growth(seen.map((one) => ({ at_s: one.at_s, mb: of(one) })), settled_s);
  if (!found) return undefined;
  const { from_mb: from, to_mb: to, grown_mb: grown, mb_per_hour: per_hour } = found;
  return { from, to, grown, grew: grew(found), per_hour };
}

/** What grew, as texts; but not what is expected to, `isExpected(row, name)`. */
export function grownTexts({ rows, counts }, isExpected = () => false) {
  const text = (who, what, { from, to }) => `${who} grew from ${shown(from)} to ${shown(to)} ${what}`;
  const held = rows.flatMap((row) =>
    Object.entries(row.held)
      .filter(([name, one]) => one.grew && !isExpected(row, name))
      .map(([name, one]) => text(row.key, HELD[name], one)),
  );
  const more = Object.entries(counts).filter(([, one]) => one?.grew);
  return [...held, ...more.map(([role, one]) => text(role, 'processes', one))];
}

const shown = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(1));
