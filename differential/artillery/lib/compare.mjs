// The differences between two runs, each with the aspect it is of: `requests`, `exit`, `said`, `header NAME`, `counter NAME`,
// `rate NAME`, `summary NAME`.

/** A run is `{code, said, users, choices, figures}` (tools.mjs); `[{aspect, artillery, sonagi}]`. */
export function differences(artillery, sonagi) {
  const found = [];
  const put = (aspect, a, b) => {
    if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ aspect, artillery: a, sonagi: b });
  };
  put('exit', artillery.code, sonagi.code);
  put('said', artillery.said, sonagi.said);
  const [onlyA, onlyB] = onlyIn(artillery.users.map((lines) => lines.join('\n')), sonagi.users.map((lines) => lines.join('\n')));
  if (onlyA.length + onlyB.length > 0) found.push({ aspect: 'requests', artillery: onlyA, sonagi: onlyB });
  each('header', artillery.choices, sonagi.choices, put);
  for (const kind of ['counter', 'rate', 'summary']) each(kind, artillery.figures[kind], sonagi.figures[kind], put);
  return found;
}

function each(kind, a, b, put) {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) put(`${kind} ${name}`, a[name], b[name]);
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
 * Sets found differences against the declared ones (declared.mjs): `{open, known}`; `known` is of `{row, found}`. A row stands
 * for its aspects only, so whatever else differs in the same script is open.
 */
export function judge(name, found, rows) {
  const open = [];
  const known = [];
  for (const one of found) {
    const row = rows.find((row) => covers(row, name, one.aspect));
    if (row) known.push({ row, found: one });
    else open.push(one);
  }
  return { open, known };
}

export const covers = (row, name, aspect) => (row.shown_by ?? []).some(({ script, aspects }) => (script === '*' || script === name) && aspects.some((pattern) => fits(pattern, aspect)));

/** `counter errors.*` fits every aspect that begins so. */
const fits = (pattern, aspect) => (pattern.endsWith('*') ? aspect.startsWith(pattern.slice(0, -1)) : aspect === pattern);
