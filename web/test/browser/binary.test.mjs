// The page as the binary serves it and writes it: real runs against a small target. `make web-test` builds the binary first.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isBuilt, Sonagi } from '../fixtures/sonagi.mjs';
import { Target } from '../fixtures/target.mjs';
import { TcpProxy } from '../fixtures/tcp_proxy.mjs';
import { assertNear, chart, drawn, launch, open, shows, windowOf } from './browser.mjs';

const options = { skip: isBuilt ? false : 'the binary is not built: cargo build, or SONAGI_BIN' };
const started = new Set();
let browser;
let target;
let folder;
before(async () => {
  browser = await launch();
  target = new Target();
  const url = await target.listen();
  folder = mkdtempSync(join(tmpdir(), 'sonagi-binary-'));
  writeFileSync(join(folder, 'long.yml'), script(url, 120));
  writeFileSync(join(folder, 'short.yml'), script(url, 10));
});
after(async () => {
  for (const sonagi of started) await sonagi.kill();
  await browser.close();
  await target.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Users who share a room over event streams and ask for something, for that many seconds. */
function script(url, seconds) {
  return `
config:
  target: ${url}
  delivery: { drain: 1 }
  sse:
    url: "/stream?room={{ $room }}"
    publish:
      post: { url: "/share?room={{ $room }}", json: "{{ $message }}" }
  phases:
    - { name: steady, duration: ${seconds}, arrivalRate: 5 }
scenarios:
  - name: two talk
    engine: sse
    flow:
      - subscribe: lobby
      - think: 0.3
      - send: "hello {{ $stamp }}"
        to: lobby
      - get: { url: /hello }
      - think: 1
`;
}

function sonagi(...args) {
  const one = new Sonagi(args, folder);
  started.add(one);
  return one;
}

async function output(...args) {
  const one = sonagi(...args);
  await one.ended();
  return one.output;
}

const run = (name, ...more) =>
  sonagi('run', `${name}.yml`, '--name', name, '--page', '--page-listen', '127.0.0.1:0', '--runs', 'runs', ...more);
const frames = page => page.evaluate(() => Number(document.documentElement.dataset.ready ?? -1));
const grown = (page, beyond) => shows(async () => (await frames(page)) > beyond, true);
const figure = (page, section, row, column) =>
  page
    .locator(`${section} tbody tr`, { has: page.locator('th', { hasText: row }) })
    .locator(`[data-col="${column}"]`)
    .textContent();

/** The folder of the run with this name, as the library calls it. */
const idOf = name => readdirSync(join(folder, 'runs')).find(entry => entry.endsWith(name));

test('a run is watched, stopped from its page, and told by a file that asks for nothing', options, async () => {
  const process = run('long', '--report', 'report.html');
  const page = await open(browser, await process.page());
  await grown(page, 1);
  assert.equal(await page.getAttribute('#verdict', 'data-outcome'), 'running');
  assert.equal(await page.locator('h1').innerText(), 'long');
  await grown(page, await frames(page));
  await page.locator('#stop').click();
  await shows(() => page.locator('#stop').innerText(), /Stop it now\?/);
  await page.locator('#stop').click();
  await page.waitForSelector('#verdict[data-outcome="interrupted"]');
  await page.waitForSelector('html[data-connection="closed"]', { state: 'attached' });
  assert.equal(await process.ended(), 130);
  assert.deepEqual(page.problems, []);
  const seen = await page.locator('#verdict .reasons').innerText();
  await page.close();

  const url = pathToFileURL(join(folder, 'report.html')).href;
  const file = await open(browser, url, { offline: true });
  assert.equal(await file.locator('#verdict .reasons').innerText(), seen);
  assert.match(seen, /^stopped after \d+\.\d s: the figures cover what ran until then/);
  assert.deepEqual(
    file.requests.filter(asked => !asked.startsWith('data:')),
    [url],
  );
  assert.deepEqual(file.problems, []);
  await file.close();
});

test('a stream that is cut again and again loses no line and doubles none', options, async () => {
  const process = run('short', '--json');
  const url = new URL(await process.page());
  const proxy = new TcpProxy(Number(url.port));
  url.port = String(await proxy.listen());
  const page = await open(browser, url.href);
  for (const beyond of [1, 3]) {
    await grown(page, beyond);
    proxy.cut();
    await page.waitForSelector('html[data-connection="lost"]', { state: 'attached' });
    await page.waitForSelector('html:is([data-connection="open"], [data-connection="closed"])', { state: 'attached' });
  }
  await page.waitForSelector('#verdict[data-outcome="pass"]');
  await page.waitForSelector('html[data-connection="closed"]', { state: 'attached' });
  await drawn(page);
  assert.equal(await process.ended(), 0);
  const summary = JSON.parse(process.output);
  const whole = number => number.toLocaleString('en');
  assert.ok(summary.delivery.owed > 0);
  assert.equal(await figure(page, '#delivery', /^owed/, 'window'), whole(summary.delivery.owed));
  assert.equal(await figure(page, '#delivery', /^delivered/, 'window'), whole(summary.delivery.delivered));
  const requests = summary.operations.find(operation => operation.name === 'GET /hello');
  assert.equal(await figure(page, '#operations', 'GET /hello', 'count'), whole(requests.count));
  await page.close();
  await proxy.close();
});

test(
  'the library lists runs and compares two; percentiles of any window are those of the binary',
  options,
  async () => {
    const library = sonagi('page', 'runs', '--listen', '127.0.0.1:0');
    const page = await open(browser, await library.page());
    const names = async () => (await page.locator('#library tbody th').allInnerTexts()).sort();
    await shows(names, ['long', 'short']);
    for (const name of ['long', 'short']) await page.locator(`[data-run="${idOf(name)}"]`).check();
    await page.locator('#compare').click();
    await page.waitForSelector('html[data-ready*=","]');
    await shows(() => page.locator('#verdict-a').innerText(), /INTERRUPTED/);
    await shows(() => page.locator('#verdict-b').innerText(), /PASS/);
    assert.match(await page.locator('#quantiles').innerText(), /GET \/hello/);
    assert.deepEqual(page.problems, []);
    await page.locator('#verdict-b').locator('xpath=..').locator('h2 a').click();
    await page.waitForSelector('html[data-ready]:not([data-ready*=","])', { state: 'attached' });
    await assertQuantiles(page, join('runs', idOf('short')));
    await page.close();
    library.interrupt();
    await library.ended();
  },
);

/** Asserts that the page shows the percentiles of the run and of a second that `sonagi report` computes. */
async function assertQuantiles(page, runFolder) {
  const summary = JSON.parse(await output('report', runFolder, '--json'));
  const hello = summary.operations.find(operation => operation.name === 'GET /hello');
  for (const column of ['p50', 'p95', 'p99']) {
    assertNear(await figure(page, '#operations', 'GET /hello', column), hello.response_ms[column], column);
  }
  const element = await chart(page, 'Requests and messages a second');
  await element.focus();
  await page.keyboard.press('Home');
  for (const key of ['ArrowRight', 'ArrowRight', 'Enter', 'Enter']) await page.keyboard.press(key);
  await shows(() => page.locator('.window button').isVisible(), true);
  await drawn(page);
  const [from, to] = await windowOf(page);
  assert.ok(to - from < 1.5, `${from} to ${to}`);
  const [head, ...rows] = (await output('report', runFolder, '--csv')).trim().split('\n');
  const row = rows.map(line => line.split(',')).find(cells => Math.abs(Number(cells[0]) - to) < 0.01);
  const cell = name => Number(row[head.split(',').indexOf(name)]);
  assert.equal(await figure(page, '#operations', 'GET /hello', 'count'), String(cell('GET /hello.count')));
  for (const column of ['p50', 'p95', 'p99']) {
    assertNear(
      await figure(page, '#operations', 'GET /hello', column),
      cell(`GET /hello.response_${column}_ms`),
      column,
    );
  }
}
