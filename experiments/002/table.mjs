// Puts what runs with chat.yml came to into README.md, beside the figures and the ranking of the report: none of ours is typed by
// hand.
//
//   node experiments/002/table.mjs runs/20261121-194213-chat                                 # remedies: those the matrix has
//   node experiments/002/table.mjs runs/20261121-204213-chat runs/20261121-205502-chat       # with -e report, and with -e local
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { rewrite } from '../lib/marked.mjs';
import { readMatrix } from '../lib/matrix.mjs';
import { RATIO_TABLE, REMEDY_TABLE, environmentOf, ratioRows, remedyRows } from './lib/tables.mjs';

const README = new URL('README.md', import.meta.url);

const folders = process.argv.slice(2);
if (folders.length === 0) throw new Error('usage: node table.mjs RUNFOLDER…');
const matrices = folders.map((folder) => withCommand(folder, readMatrix(folder)));
const [report, local] = ['report', 'local'].map((name) => matrices.find((matrix) => environmentOf(matrix) === name));
if (Boolean(report) !== Boolean(local)) throw new Error('runs with -e report and with -e local are one table: name both folders');
if (report) rewrite(README, 'ratio', (text) => markdown(RATIO_TABLE, merged(RATIO_TABLE, text, ratioRows(report, local))));
for (const matrix of matrices.filter((matrix) => !environmentOf(matrix))) {
  rewrite(README, 'remedies', (text) => markdown(REMEDY_TABLE, remedyRows(merged(REMEDY_TABLE, text, []), matrix)));
}

/** A matrix with the command that made it, which its runs have in their records. */
function withCommand(folder, matrix) {
  const made = matrix.runs.find(({ summary }) => summary?.run_folder);
  if (!made) throw new Error(`no run of ${folder} has come to its end`);
  const record = join(folder, basename(made.summary.run_folder), 'run.json');
  return { ...matrix, command: JSON.parse(readFileSync(record, 'utf8')).header.command };
}
