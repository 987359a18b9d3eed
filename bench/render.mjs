// Renders RESULTS.md and the README's performance section from results/*.json. Writes nothing else and measures nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CASES } from './cases/index.mjs';
import { readmeText, resultsText, spliced } from './lib/pages.mjs';
import { marked } from './lib/stale.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const RESULTS = here('./RESULTS.md');
const README = here('../README.md');

/** In the order of the cases; those never run are left out. */
export const results = () => CASES.map((name) => here(`./results/${name}.json`)).filter(existsSync).map((path) => JSON.parse(readFileSync(path, 'utf8')));

/** Each page's path, and its text as it is to be. */
export function pages(measured = marked(results())) {
  return [[RESULTS, resultsText(measured)], [README, spliced(readFileSync(README, 'utf8'), readmeText(measured))]];
}

export function render() {
  for (const [path, text] of pages()) writeFileSync(path, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) render();
