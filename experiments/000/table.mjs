// Puts what a matrix with chat.yml came to into README.md, beside the figures of the report: none of ours is typed by
// hand.
//
//   node experiments/000/table.mjs runs/20261121-194213-chat
import { markdown, merged } from '../../bench/lib/markdown.mjs';
import { rewrite } from '../lib/marked.mjs';
import { readMatrix } from '../lib/matrix.mjs';
import { RATIO, rows } from './lib/tables.mjs';

const README = new URL('README.md', import.meta.url);

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: node table.mjs RUNFOLDER');
const made = rows(readMatrix(folder));
rewrite(README, 'ratio', (text) => markdown(RATIO, merged(RATIO, text, made)));
