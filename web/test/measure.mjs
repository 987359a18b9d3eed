// Measures what web/README.md says of sizes and times: `node test/measure.mjs`. Not a test: times depend on the machine.

import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { launch } from './browser/browser.mjs';
import { file } from './fixtures/page.mjs';
import { all } from './fixtures/runs.mjs';

const ROUNDS = 5;

const page = readFileSync(new URL('../dist/page.html', import.meta.url));
console.log(`page: ${page.length} bytes, ${gzipSync(page).length} compressed`);
const browser = await launch();
const busy = loadavg()[0].toFixed(1);
console.log(`Chromium ${browser.version()}, ${cpus().length} cores of ${cpus()[0].model}, load average ${busy}`);
for (const [name, run] of [
  ['one minute of a chat', all.chat()],
  ['10 min, 31 series, 50 operations a second', all.long({ seconds: 600, span: 1, values: 10 })],
  ['10 min, 31 series, 100 operations a second', all.long({ seconds: 600, span: 1, values: 20 })],
  ['10 min, 31 series, 500 operations a second', all.long({ seconds: 600, span: 1, values: 100 })],
  ['1 h, 31 series, 100 operations a second', all.long({ seconds: 3_600, span: 3, values: 60 })],
]) {
  const html = file(run.lines);
  const path = join(tmpdir(), 'sonagi-measured.html');
  writeFileSync(path, html);
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const began = performance.now();
    await tab.goto(pathToFileURL(path).href);
    await tab.waitForSelector('#verdict[data-outcome]', { state: 'attached' });
    const verdict = performance.now() - began;
    await tab.waitForSelector('html[data-ready]', { state: 'attached' });
    times.push([verdict, performance.now() - began]);
    await tab.close();
  }
  const median = which => times.map(pair => pair[which]).sort((a, b) => a - b)[ROUNDS >> 1];
  console.log(
    `${name}: ${html.length} bytes; verdict after ${Math.round(median(0))} ms, everything after ${Math.round(median(1))} ms`,
  );
}
await browser.close();
