// The document a case leaves behind (results/CASE.json): every run, and all that is needed to render it without the case.
import { commit, machine } from './machine.mjs';
import { columns } from './measures.mjs';

/** What a case begins under: to be asked before its first run, or its own load would be told as the machine's. */
export const conditions = () => ({ date: new Date().toISOString().slice(0, 16).replace('T', ' '), commit: commit(), machine: machine() });

/** `ran` is what Contest.run gave: `{ records, calibrations }`; `before` what `conditions` said before it. */
export function resultOf(kase, contestants, { records, calibrations }, available, { runs, before }) {
  return {
    case: kase.name,
    title: kase.title,
    about: kase.about,
    operation: kase.operation,
    headline: kase.headline,
    advantage: kase.advantage,
    columns: columns(kase),
    claims: kase.claims ?? [],
    ...before,
    versions: available.versions,
    rounds: runs,
    rows: contestants.map(({ name, tool, target = 'null', beside, rounds }) => ({ name, tool, target, beside, rounds })),
    unavailable: contestants.filter((one) => !available.has(one)).map((one) => ({ name: one.name, reason: available.missing(one) })),
    left_out: kase.contestants.filter((one) => one.slow && !contestants.includes(one)).map(({ name }) => name),
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
