// Puts what a matrix or a search with report.yml came to into README.md, beside the figures of the report: none of ours
// is typed by hand.
//
//   node experiments/004/table.mjs runs/20261121-194213-report
//   node experiments/004/table.mjs runs/20261121-201502-report-capacity
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rewrite } from '../lib/marked.mjs';
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { LOADS, POOLS, loadRows, poolRows } from './lib/tables.mjs';

const README = new URL('README.md', import.meta.url);

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: node table.mjs RUNFOLDER');
const read = (...path) => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));
const write = (name, table, rows) => rewrite(README, name, (text) => markdown(table, merged(table, text, rows)));
if (existsSync(join(folder, 'matrix.json'))) write('pools', POOLS, poolRows(read('matrix.json')));
else write('loads', LOADS, loadRows(read('capacity.json'), (trial) => read(trial, 'run.json')));
