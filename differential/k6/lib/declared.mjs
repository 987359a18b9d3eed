// The differences declared for k6 (../../lib/declared.mjs).
import * as list from '../../lib/declared.mjs';
import { ASPECTS } from './compare.mjs';

export const declared = () => list.read(new URL('../differences.json', import.meta.url));

export const wrong = (aspect) => list.wrong(aspect, ASPECTS);
