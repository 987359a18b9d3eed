// docs/from-artillery.md (../../lib/guide.mjs).
import * as made from '../../lib/guide.mjs';
import { cases } from './cases.mjs';
import { declared } from './declared.mjs';

const FILE = new URL('../../../docs/from-artillery.md', import.meta.url);

export const guide = () => made.guide({ file: FILE, peer: 'artillery', rows: declared(), cases: cases(), link: (name) => `../differential/artillery/scripts/${name}.yml` });
