// Tables of figures in Markdown, and how rows that are measured anew get into one that stands on a page.
//
// Whoever has a table says what it is: `{ head, right, keyOf, order }`. `head` names the columns, `right`
// those of them that are aligned to the right. Rows with one key are replaced together; `keyOf(row)` is a row's key, by
// default its first cell. `order` lists the keys in the order of their rows, and rows with any other key are dropped;
// without it, rows with new keys come last.

const line = (cells) => `| ${cells.join(' | ')} |`;
const cellsOf = (text) => text.slice(2, -2).split(' | ');
const firstCell = ([cell]) => cell;

/** The table, in Markdown. */
export function markdown({ head, right = [] }, rows) {
  const rule = head.map((name) => (right.includes(name) ? '--:' : '---'));
  return [head, rule, ...rows].map(line).join('\n');
}

/** The rows of the table that stands in a text, with `rows` in the place of those of their keys. */
export function merged({ head, keyOf = firstCell, order }, text, rows) {
  const groups = new Map([...grouped(standing(head, text), keyOf), ...grouped(rows, keyOf)]);
  return (order ?? [...groups.keys()]).flatMap((key) => groups.get(key) ?? []);
}

/** The rows that stand in a text. Under other columns they would mean something else: they are refused, not lost. */
function standing(head, text) {
  const [names, , ...rows] = text.split('\n').filter((text) => text.startsWith('| ')).map(cellsOf);
  if (names && names.join() !== head.join()) {
    const hint = 'remove it, or give its rows the columns of today';
    throw new Error(`the table on the page has other columns: ${names.join(', ')}\nhint: ${hint}`);
  }
  return rows;
}

/** Rows by key, in the order in which keys come. */
function grouped(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

/** A whole number, its thousands apart. */
export const number = (value) => Math.round(value).toLocaleString('en');

/** A share, as `4.9 %`; `-` without one. */
export const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '-');

/** The least and the greatest of some figures: once if they read the same, `-` without any. */
export const range = (figures, shown = String) =>
  figures.length === 0 ? '-' : [...new Set([Math.min(...figures), Math.max(...figures)].map(shown))].join('–');
