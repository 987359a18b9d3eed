// Puts what runs with chat.yml came to into README.md, beside the figures and the ranking of the report: none of ours
// is typed by hand.
//
//   node experiments/002/table.mjs runs/20261121-194213-chat    # with -e report the ratios, else its remedies
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { rewrite } from '../lib/marked.mjs';
import { readMatrix } from '../lib/matrix.mjs';
import { RATIO_TABLE, REMEDY_TABLE, environmentOf, ratioRows, remedyRows } from './lib/tables.mjs';

const README = new URL('README.md', import.meta.url);

const folders = process.argv.slice(2);
if (folders.length === 0) throw new Error('usage: node table.mjs RUNFOLDER…');
for (const matrix of folders.map((folder) => withCommand(folder, readMatrix(folder)))) {
  if (environmentOf(matrix) === 'report') {
    rewrite(README, 'ratio', (text) => markdown(RATIO_TABLE, merged(RATIO_TABLE, text, ratioRows(matrix))));
  } else {
    rewrite(README, 'remedies', (text) => markdown(REMEDY_TABLE, remedyRows(merged(REMEDY_TABLE, text, []), matrix)));
  }
}

/** A matrix with the command that made it, which its runs have in their records. */
function withCommand(folder, matrix) {
  const made = matrix.runs.find(({ summary }) => summary?.run_folder);
  if (!made) throw new Error(`no run of ${folder} has come to its end`);
  const record = join(folder, basename(made.summary.run_folder), 'run.json');
  return { ...matrix, command: JSON.parse(readFileSync(record, 'utf8')).header.command };
}
