// The differences declared for Artillery (../../lib/declared.mjs).
import * as list from '../../lib/declared.mjs';

export const declared = () => list.read(new URL('../differences.json', import.meta.url));

export const wrong = (aspect) => list.wrong(aspect, /^(requests|said|(header|counter|rate|summary|times|report) .+)$/);
