// The JSON of `--summary-export`, and the files that a run leaves: with values where they are counts, with names where they are times.
import { order } from '../../lib/judge.mjs';

/** Measured, and so never the same: only which figures there are is compared. */
export const MEASURED = /^(http_req_(duration|blocked|connecting|tls_handshaking|sending|waiting|receiving)|iteration_duration|group_duration|ws_(connecting|session_duration|ping)|data_(sent|received)|vus|vus_max|grpc_.*|browser_.*)(\{.*\})?$/;

/** What is compared of each part: `{'http_reqs': {…}, 'root_group': {…}, …}`. */
export function summary(whole) {
  const { metrics = {}, root_group, ...rest } = whole;
  const told = {};
  for (const [name, values] of Object.entries(metrics)) told[name] = figures(name, values);
  if (root_group) told.root_group = group(root_group);
  // The newer form has lists in any order, times, and the script itself beside what is counted.
  for (const [name, value] of Object.entries(rest)) told[name] = name === 'setup_data' ? sorted(value) : shape(value);
  told.members = Object.keys(whole).sort(order);
  return told;
}

function figures(name, values) {
  const measured = MEASURED.test(name);
  return Object.fromEntries(
    Object.entries(values)
      .sort(([a], [b]) => order(a, b))
      .map(([key, value]) => {
        if (typeof value !== 'number') return [key, sorted(value)];
        const counted = key === 'count' ? !/^data_/.test(name) : !measured && !(key === 'rate' && 'count' in values);
        return [key, counted ? rounded(value) : '#'];
      }),
  );
}

/** The last digits of a sum of doubles depend on who adds first. */
const rounded = (value) => (Number.isInteger(value) ? value : Number(value.toPrecision(9)));

/** A group's name, path and id, its checks with their counts, and its groups; order among them is free in `--summary-export`. */
function group({ groups = {}, checks = {}, ...rest }) {
  const list = (of) => Object.values(of).sort((a, b) => order(a.name, b.name));
  return { ...sorted(rest), as: Array.isArray(groups) ? 'lists' : 'maps', checks: list(checks).map(sorted), groups: list(groups).map(group) };
}

/** Members in the order of their names, all the way down. */
export function sorted(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => order(a, b)).map(([name, of]) => [name, sorted(of)]));
}

/** A file that a run left: the rows of a CSV without their times and values, the members of a JSON, else the text. */
export function left(name, text) {
  if (name.endsWith('.csv')) return table(text);
  if (!name.endsWith('.json')) return text;
  return shape(JSON.parse(text));
}

/** The header of a CSV of samples, and each distinct row as often as it is there; measured values are masked. */
function table(text) {
  const [head, ...rows] = text.trim().split('\n');
  const names = head.split(',');
  const seen = {};
  for (const row of rows) {
    // Tags beside those with a column come in any order.
    const cells = row.split(',').map((cell) => (/^\w+=[^&]*&/.test(cell) ? cell.split('&').sort(order).join('&') : cell));
    const told = cells.map((cell, at) => (names[at] === 'timestamp' || (names[at] === 'metric_value' && MEASURED.test(cells[0])) ? '#' : cell)).join(',');
    if (!/^vus/.test(told)) seen[told] = (seen[told] ?? 0) + 1;
  }
  return { head, rows: sorted(seen) };
}

/** A JSON value with its numbers masked, members in the order of their names. */
export function shape(value) {
  if (typeof value === 'number') return '#';
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return '<time>';
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shape).sort((a, b) => order(a?.name, b?.name));
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => order(a, b)).map(([name, of]) => [name, shape(of)]));
}
