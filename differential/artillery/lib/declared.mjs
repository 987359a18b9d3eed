// The declared differences: one list, which the comparison, the guide (docs/from-artillery.md) and its test read.
import { readFileSync } from 'node:fs';

const FILE = new URL('../differences.json', import.meta.url);

/**
 * Rows `{id, about, artillery, sonagi, kind, why?, shown_by?, tests?}`: `kind` is `better`, `other` or `missing`; `shown_by`
 * names scripts and the aspects in which they differ, `tests` other proofs as `file::name`.
 */
export const declared = () => JSON.parse(readFileSync(FILE, 'utf8'));
