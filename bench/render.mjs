// Renders RESULTS.md and the README's performance section from results/*.json. Writes nothing else and measures nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CASES } from './cases/index.mjs';
import { readmeText, resultsText, spliced } from './lib/pages.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** In the order of the cases; those never run are left out. */
export function render() {
  const results = CASES.map((name) => here(`./results/${name}.json`)).filter(existsSync).map((path) => JSON.parse(readFileSync(path, 'utf8')));
  writeFileSync(here('./RESULTS.md'), resultsText(results));
  const readme = here('../README.md');
  writeFileSync(readme, spliced(readFileSync(readme, 'utf8'), readmeText(results)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) render();
