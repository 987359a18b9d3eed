// Found differences set against the declared ones. A difference is `{aspect, peer, sonagi}`: what of a run differs, and what either
// tool did.
import { parts } from './declared.mjs';

/**
 * `{open, known, stale}`; `known` is of `{row, aspect, found}`, `stale` of `{row, aspect}` that are declared for this very script and
 * not seen. A row stands for its aspects only, so whatever else differs in the same script is open. `apart` says that the runs
 * cannot be compared.
 */
export function judge(name, found, rows, apart = false) {
  const claims = rows.flatMap((row) => claimed(row, name));
  const open = [];
  const known = [];
  const seen = new Set();
  for (const one of found) {
    const claim = claims.find(({ aspect }) => covers(aspect, one, apart));
    if (!claim) open.push(one);
    else {
      known.push({ row: claim.row, aspect: claim.aspect, found: one });
      seen.add(claim);
    }
  }
  return { open, known, stale: claims.filter((claim) => claim.script !== '*' && !seen.has(claim)) };
}

/** What a row says of a script: `[{row, script, aspect}]`. */
const claimed = (row, name) =>
  (row.shown_by ?? []).filter(({ script }) => script === '*' || script === name).flatMap(({ script, aspects }) => aspects.map((aspect) => ({ row, script, aspect })));

/** What is declared for all scripts and was seen in none: `[{row, aspect}]`. */
export const nowhere = (results, rows) =>
  rows.flatMap((row) => claimed(row, '*').map(({ aspect }) => ({ row, aspect }))).filter((claim) => !results.some(({ known }) => known.some(({ row, aspect }) => row.id === claim.row.id && aspect === claim.aspect)));

/** Whether a declared aspect (declared.mjs) is of this difference. The exit code is always told on its own. */
function covers(declared, { aspect, peer, sonagi }, apart) {
  if (declared === 'everything') return apart && aspect !== 'exit';
  if (declared.endsWith('*')) return aspect.startsWith(declared.slice(0, -1));
  const { name, values } = parts(declared);
  return aspect === name && (!values || (values[0] === value(peer) && values[1] === value(sonagi)));
}

const value = (of) => (of === undefined ? 'absent' : typeof of === 'string' ? of : JSON.stringify(of));

/** Calls `put(aspect, a, b)` for each member of either record. */
export function each(kind, a, b, put) {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) put(`${kind} ${name}`, a[name], b[name]);
}

/** A list of differences and a `put(aspect, peer, sonagi)` that adds to it what is not the same. */
export function finding() {
  const found = [];
  const put = (aspect, peer, sonagi) => {
    if (JSON.stringify(peer) !== JSON.stringify(sonagi)) found.push({ aspect, peer, sonagi });
  };
  return { found, put };
}

/** What of two lists the other has not, each as often as it is missing. */
export function onlyIn(a, b) {
  const rest = [...b];
  const left = a.filter((one) => {
    const at = rest.indexOf(one);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return [left, rest];
}

/**
 * Comparisons are made up to three times while what `times` matches is open: that may be the machine's doing, but hardly thrice.
 * `attempt(again)` makes one.
 */
export async function settled(times, attempt, tries = 3) {
  const result = await attempt(false);
  for (let tried = 1; tried < tries && result.open.some(({ aspect }) => times.test(aspect)); tried += 1) Object.assign(result, await attempt(true));
  return result;
}

export const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
