// Puts the table of a finished matrix into README.md, between its marks: no figure there is typed by hand.
//
//   node experiments/transports/table.mjs runs/20261121-194213-groups-of-ten
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rewrite } from '../lib/marked.mjs';

const README = new URL('README.md', import.meta.url);

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: node table.mjs RUNFOLDER');
const file = join(folder, 'matrix.md');
if (!existsSync(file)) throw new Error(`there is no ${file}\nhint: only the folder of a matrix has one`);
const table = readFileSync(file, 'utf8');
// The marks are those of the script's name.
const name = table.match(/^Measured: ([^,]*),/m)?.[1];
if (!name) throw new Error(`${file} does not say which script it is of`);
rewrite(README, name, () => table);
