// The document a case leaves behind (results/CASE.json): every run, and all that is needed to render it without the case.
import { commit, machine } from './machine.mjs';
import { columns } from './measures.mjs';

/** `ran` is what Contest.run gave: `{ records, calibrations }`. */
export function resultOf(kase, contestants, { records, calibrations }, available, { runs }) {
  return {
    case: kase.name,
    title: kase.title,
    about: kase.about,
    operation: kase.operation,
    headline: kase.headline,
    advantage: kase.advantage,
    columns: columns(kase),
    claims: kase.claims ?? [],
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit: commit(),
    machine: machine(),
    versions: available.versions,
    rounds: runs,
    rows: contestants.map(({ name, tool, target = 'null', beside }) => ({ name, tool, target, beside })),
    unavailable: contestants.filter((one) => !available.has(one)).map((one) => ({ name: one.name, reason: available.missing(one) })),
    calibrations,
    runs: records.map(rounded),
  };
}

/** Six digits are more than any clock here gives. */
function rounded({ measures, ...record }) {
  if (!measures) return record;
  const kept = Object.entries(measures).map(([name, value]) => [name, Number.isFinite(value) ? Number(value.toPrecision(6)) : null]);
  return { ...record, measures: Object.fromEntries(kept) };
}
