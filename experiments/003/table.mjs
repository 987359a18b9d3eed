// Puts what a matrix with locations.yml came to into README.md, row by row: no figure there is typed by hand. The rows of
// Socket.IO are those of the same conversation in ../transports.
//
//   node experiments/003/table.mjs runs/20261121-194213-locations
//   node experiments/003/table.mjs runs/20261121-194213-locations runs/20261121-204213-groups-of-ten
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { rewrite } from '../lib/marked.mjs';
import { readMatrix } from '../lib/matrix.mjs';
import { LOCATIONS, locationRows, ordered } from './lib/tables.mjs';

const README = new URL('README.md', import.meta.url);

const folders = process.argv.slice(2);
if (folders.length === 0) throw new Error('usage: node table.mjs RUNFOLDER…');
for (const rows of folders.map(readMatrix).map(locationRows)) {
  rewrite(README, 'locations', (text) => markdown(LOCATIONS, ordered(merged(LOCATIONS, text, rows))));
}
