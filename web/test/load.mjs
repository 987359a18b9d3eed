// The page's own modules, for tests: bundled in memory, imported as they are.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export async function load(entry) {
  const entryPoints = [fileURLToPath(new URL(`../src/${entry}`, import.meta.url))];
  const result = await build({ entryPoints, bundle: true, write: false, format: 'esm', platform: 'node' });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].text).toString('base64')}`);
}
