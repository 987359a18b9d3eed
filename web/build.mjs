// Builds dist/page.html: one file with script and style inline, and a Content-Security-Policy that allows just those
// two by their hashes. The same sources give the same bytes; `--check` builds in memory and compares with what is
// committed.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, 'dist/page.html');
/** The page may not be larger than this (bytes). */
const LIMIT = 250_000;

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

const hash = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const script = (await bundle('src/main.ts', { format: 'iife' })).replaceAll('</script', '<\\/script');
const style = await bundle('src/style/index.css', { loader: { '.css': 'css' } });
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  'img-src data:',
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>Sonagi</title>
<style>${style}</style>
</head>
<body>
<noscript>This page draws its charts with JavaScript, which is switched off here.</noscript>
<!--sonagi:data-->
<script>${script}</script>
</body>
</html>
`;

for (const once of ['<!--sonagi:data-->', "connect-src 'none'"]) {
  if (page.split(once).length !== 2) throw new Error(`the page must have exactly one ${once}`);
}
const size = Buffer.byteLength(page);
if (size > LIMIT) throw new Error(`the page has ${size} bytes, more than ${LIMIT}`);
if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== page) {
    console.error('web: dist/page.html is not what the sources build');
    console.error('hint: make web, and commit web/dist/page.html');
    process.exit(1);
  }
} else {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, page);
  console.log(`web/dist/page.html: ${size} bytes`);
}
