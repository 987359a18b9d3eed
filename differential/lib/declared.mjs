// The declared differences: one list for each peer, which the comparison, the guide and its test read.
import { readFileSync } from 'node:fs';

/**
 * Rows `{id, about, PEER, sonagi, kind, why?, shown_by?, tests?}`: `kind` is `better`, `other` or `missing`; `shown_by` names
 * scripts and the aspects in which they differ, `tests` other proofs as `file::name::what the test says` (proof.mjs).
 *
 * An aspect is one of the comparison by its name; with `NAME: A → B` it is declared with the values of the peer and of Sonagi.
 * `KIND PART.*` are all of a kind that begin so. `everything` are all but the exit code, of a script with which one tool did
 * nothing or had to be ended; of any other it declares nothing.
 */
export const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** `{name, values}` of an aspect as it is declared; `values` are two texts, if there are any. */
export function parts(aspect) {
  const [, name, ...values] = aspect.match(/^(.*): (.*) → (.*)$/) ?? [];
  return name === undefined ? { name: aspect } : { name, values };
}

/** What is wrong with an aspect as it is declared; undefined when nothing is. `known` matches the names of aspects. */
export function wrong(aspect, known) {
  const { name, values } = parts(aspect);
  if (name === 'everything' && !values) return undefined;
  if (name === 'exit') return values ? undefined : '`exit` wants its values, e.g. `exit: 0 → 1`';
  if (!known.test(name)) return 'no such aspect';
  if (name.includes('*') && !/^\w+ [^*]+\.\*$/.test(name)) return 'too wide: any counter, rate or summary could be it';
  return undefined;
}
