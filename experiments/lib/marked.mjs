// A part of a page that a program writes, between `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
import { readFileSync, writeFileSync } from 'node:fs';

/** What stands there: `{ before, text, after }`. */
function parts(page, name) {
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`];
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
  if (from < begin.length || to < from) throw new Error(`the page has no ${begin.trim()} … ${end}`);
  return { before: page.slice(0, from), text: page.slice(from, to), after: page.slice(to) };
}

/** What stands there now. */
export const marked = (file, name) => parts(readFileSync(file, 'utf8'), name).text;

/** Writes `remake(what stands there)` in its place. */
export function rewrite(file, name, remake) {
  const { before, text, after } = parts(readFileSync(file, 'utf8'), name);
  writeFileSync(file, `${before}${remake(text).trim()}\n${after}`);
}
