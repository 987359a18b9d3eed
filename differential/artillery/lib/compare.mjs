// The differences between two runs, each with the aspect it is of: `requests`, `exit`, `said`, `header NAME`, `counter NAME`,
// `rate NAME`, `summary NAME`, `times NAME`, `report PART`; and whether the list declares them.
import { parts } from './declared.mjs';
import { alike, asOften } from './figures.mjs';

/**
 * A run is `{code, said, users, choices, figures}` (tools.mjs); `[{aspect, artillery, sonagi}]`. Rates are compared with their
 * values, and medians, where requests come evenly, as the case says.
 */
export function differences(artillery, sonagi, { evenly = false } = {}) {
  const found = [];
  const put = (aspect, a, b) => {
    if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ aspect, artillery: a, sonagi: b });
  };
  put('exit', artillery.code, sonagi.code);
  put('said', artillery.said, sonagi.said);
  const [onlyA, onlyB] = onlyIn(artillery.users.map((lines) => lines.join('\n')), sonagi.users.map((lines) => lines.join('\n')));
  if (onlyA.length + onlyB.length > 0) found.push({ aspect: 'requests', artillery: onlyA, sonagi: onlyB });
  const [a, b] = [artillery.figures, sonagi.figures];
  each('header', artillery.choices, sonagi.choices, put);
  for (const kind of ['counter', 'summary', 'report']) each(kind, a[kind], b[kind], put);
  each('rate', a.rate, b.rate, (aspect, a, b) => (both(a, b) && (!evenly || asOften(a, b))) || put(aspect, a, b));
  // Summaries that only one has are found by their counts. Of three users one may well meet a tool that is still loading.
  const told = evenly ? ['min', 'median'] : ['min'];
  each('times', a.times, b.times, (aspect, a, b) => !both(a, b) || told.every((name) => alike(a[name], b[name])) || put(aspect, a, b));
  return found;
}

/**
 * Comparisons are made up to three times while times or rates are open: those may be the machine's doing, but hardly thrice.
 * `attempt(again)` makes one.
 */
export async function settled(attempt, tries = 3) {
  const result = await attempt(false);
  for (let tried = 1; tried < tries && result.open.some(({ aspect }) => /^(times|rate) /.test(aspect)); tried += 1) Object.assign(result, await attempt(true));
  return result;
}

function each(kind, a, b, put) {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) put(`${kind} ${name}`, a[name], b[name]);
}

const both = (a, b) => a !== undefined && b !== undefined;

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
 * Sets found differences against the declared ones (declared.mjs): `{open, known, stale}`; `known` is of `{row, found}`, `stale`
 * of `{row, aspect}` that are declared for this very script and not seen. A row stands for its aspects only, so whatever else
 * differs in the same script is open. `apart` says that the runs cannot be compared (apart()).
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

/**
 * True when one tool sent nothing or had to be ended: only then may a script differ in whatever it likes. Two that sent
 * something are compared in all they did.
 */
export const apart = (artillery, sonagi) => [artillery, sonagi].some(({ users, code }) => users.length === 0 || typeof code === 'string') && artillery.users.length + sonagi.users.length > 0;

/** Whether a declared aspect (declared.mjs) is of this difference. The exit code is always told on its own. */
function covers(declared, { aspect, artillery, sonagi }, apart) {
  if (declared === 'everything') return apart && aspect !== 'exit';
  if (declared.endsWith('*')) return aspect.startsWith(declared.slice(0, -1));
  const { name, values } = parts(declared);
  return aspect === name && (!values || (values[0] === value(artillery) && values[1] === value(sonagi)));
}

const value = (of) => (of === undefined ? 'absent' : typeof of === 'string' ? of : JSON.stringify(of));
