// What a viewer of the page costs the load: http-closed with a page that nobody watches and with one that somebody does, in turn.
// ROUNDS=9 pairs; SONAGI_BIN or the release build. VIEWERS is how many watch; with BROWSER=1 one of them is Chromium, which
// computes on the same cores and so costs what any other process there would.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { serve } from '../interop/support/process.mjs';
import { pairs, ratio } from './lib/pairs.mjs';
import { median } from './lib/statistics.mjs';

const SONAGI = process.env.SONAGI_BIN ?? new URL('../target/release/sonagi', import.meta.url).pathname;
const ROUNDS = Number(process.env.ROUNDS ?? 9);
const SECONDS = Number(process.env.SECONDS_EACH ?? 6);
const VIEWERS = Number(process.env.VIEWERS ?? 1);
const SCRIPT = new URL('scripts/http-closed/sonagi.yml', import.meta.url).pathname;
const MOST_MS = 1000 * (SECONDS + 30);

const chromium = process.env.BROWSER ? (await import('../web/test/browser/browser.mjs')).launch : null;

/** Reads the lines of the run until the page's server ends. */
async function watch(address, signal) {
  const { origin, searchParams } = new URL(address);
  const boot = await (await fetch(`${origin}/?token=${searchParams.get('token')}`, { signal })).text();
  const id = JSON.parse(boot.match(/id="sonagi-boot"[^>]*>([^<]*)</)[1]).id;
  const stream = await fetch(`${origin}/api/runs/${encodeURIComponent(id)}/lines`, { signal });
  let bytes = 0;
  try {
    for await (const chunk of stream.body) bytes += chunk.length;
  } catch {
    // The server has ended.
  }
  return bytes;
}

async function run(target, viewers) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-viewer-'));
  const argv = ['run', SCRIPT, '--target', target, '--json', '--runs', folder, '--shards', '1', '--page', '--page-listen', '127.0.0.1:0'];
  const child = spawn(SONAGI, argv, { env: { ...process.env, USERS: '50', SECONDS: String(SECONDS) }, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), MOST_MS);
  let said = '';
  let printed = '';
  child.stdout.on('data', (text) => (printed += text));
  const address = new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => {
      said += text;
      const found = said.match(/page\s+(http:\S+)/);
      if (found) resolve(found[1]);
    });
    child.once('exit', () => reject(new Error(said)));
  });
  const ended = once(child, 'close');
  const url = await address;
  const gone = new AbortController();
  const browser = viewers && chromium ? await chromium() : null;
  const page = await browser?.newPage();
  await page?.goto(url);
  const watching = Array.from({ length: viewers - (browser ? 1 : 0) }, () => watch(url, gone.signal));
  await ended;
  clearTimeout(timer);
  gone.abort();
  const bytes = await Promise.all(watching.map((one) => one.catch(() => 0)));
  await browser?.close();
  rmSync(folder, { recursive: true });
  if (viewers && !browser && !(Math.min(...bytes) > 1000)) throw new Error('the viewer saw nothing');
  const summary = JSON.parse(printed);
  const { state, send_lag_ms } = summary.generator;
  return { rate: summary.traffic.http_responses / summary.duration_s, state, lag_ms: send_lag_ms.p99 };
}

const target = await serve(SONAGI, ['serve', '--null', '--workers', '1', '--listen', '127.0.0.1:0', '--connections', '1000', '--grace', '10ms', '--stop-on-eof'], /listening on (\S+)/);
try {
  const shown = ({ rate, state, lag_ms }) => `${rate.toFixed(0)} requests/s (generator ${state}, scheduling delay p99 ${lag_ms.toFixed(2)} ms)`;
  const all = await pairs(ROUNDS, (isWatched) => run(target.match[1], isWatched ? VIEWERS : 0), (round, without, watched) => {
    console.log(`${round}: ${shown(without)} unwatched, ${shown(watched)} watched`);
  });
  const of = (at) => median(all.map((pair) => pair[at].rate)).toFixed(0);
  const states = [...new Set(all.map(([, watched]) => watched.state))].join(', ');
  console.log(`${VIEWERS} ${chromium ? 'with Chromium' : 'without a browser'}: watched / unwatched ${ratio(all, 'rate')}; medians ${of(1)} / ${of(0)} requests/s; generator ${states}`);
} finally {
  await target.stop();
}
