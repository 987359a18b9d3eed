// docs/from-k6.md (../../lib/guide.mjs).
import * as made from '../../lib/guide.mjs';
import { cases, read } from './cases.mjs';
import { declared } from './declared.mjs';

const FILE = new URL('../../../docs/from-k6.md', import.meta.url);

export const guide = () => made.guide({ file: FILE, peer: 'k6', rows: declared(), cases: cases(), link: (name) => `../differential/k6/scripts/${read(name).path}` });
