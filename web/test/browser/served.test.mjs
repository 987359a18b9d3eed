import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { all } from '../fixtures/runs.mjs';
import { Server, TOKEN } from '../fixtures/server.mjs';
import { assertAccessible, chart, launch, open, placeOf, screenshot } from './browser.mjs';

let browser;
let server;
let url;
before(async () => {
  browser = await launch();
});
after(() => browser.close());
beforeEach(async () => {
  server = new Server();
  url = await server.listen();
});
afterEach(() => server.close());

const owed = page =>
  page.locator('#delivery tbody tr', { hasText: /^owed/ }).locator('[data-col="window"]').textContent();
const ready = frames => `html[data-ready="${frames}"]`;

/** How many lines there are up to a number of frames, that frame included. */
function linesTo(lines, frames) {
  let seen = 0;
  return lines.findIndex(line => line.frame && ++seen === frames) + 1;
}

test('a run under way grows before the eyes of who watches, to its verdict', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 10) });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(10) });
  assert.match(await page.locator('#verdict').innerText(), /RUNNING[\s\S]*0:10 of 1:00/);
  assert.equal(await owed(page), '1,440');
  await screenshot(page, 'live');
  server.grow('live', 5);
  await page.waitForSelector(ready(15));
  assert.equal(await owed(page), '2,160');
  server.grow('live', lines.length);
  await page.waitForSelector('#verdict[data-outcome="fail"]');
  await page.waitForSelector(ready(60));
  assert.equal(await owed(page), '14,256');
  assert.equal(await page.locator('.live').innerText(), '');
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('a stream that was cut goes on where it was: nothing is lost, nothing doubled', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 20) });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(20) });
  server.cut();
  await page.waitForSelector('html[data-connection="lost"]', { state: 'attached' });
  server.grow('live', 7);
  await page.waitForSelector('html[data-connection="open"]', { state: 'attached' });
  const shown = lines.slice(0, linesTo(lines, 20) + 7).filter(line => line.frame).length;
  await page.waitForSelector(ready(shown));
  server.cut();
  server.grow('live', lines.length);
  await page.waitForSelector(ready(60));
  assert.equal(await owed(page), '14,256');
  const streams = server.asked.filter(({ path }) => path.endsWith('/lines'));
  assert.ok(streams.length >= 3);
  assert.ok(streams.slice(1).every(({ resumed }) => Number(resumed) >= 20));
  await page.waitForSelector('html[data-connection="closed"]', { state: 'attached' });
  await page.close();
});

test('a line that comes again is not counted again', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 20) });
  server.forgetful = true;
  const page = await open(browser, `${url}/runs/live`, { ready: ready(20) });
  server.cut();
  server.grow('live', lines.length);
  await page.waitForSelector('#verdict[data-outcome="fail"]');
  await page.waitForSelector('html[data-connection="closed"]', { state: 'attached' });
  await page.waitForSelector(ready(60));
  assert.equal(await owed(page), '14,256');
  await page.close();
});

test('the cursor stays where it was put while the run goes on', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 20) });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(20) });
  const figure = await chart(page, 'Arrivals a second');
  await figure.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal(await page.locator('.cursor-time').textContent(), 'Cursor 0:10');
  server.grow('live', 4);
  await page.waitForSelector('html[data-ready="23"], html[data-ready="24"]');
  assert.equal(await page.locator('.cursor-time').textContent(), 'Cursor 0:10');
  const { x, y } = await placeOf(figure, 0.5);
  await page.mouse.move(x, y);
  assert.notEqual(await page.locator('.cursor-time').textContent(), 'Cursor 0:10');
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the run is stopped by two clicks and the token, and by nothing less', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 5), stoppable: true });
  const page = await open(browser, `${url}/runs/live?token=${TOKEN}&a=1#errors`, { ready: ready(5) });
  assert.equal(page.url(), `${url}/runs/live?a=1#errors`, 'nobody sees the token');
  await page.locator('#stop').click();
  assert.match(await page.locator('#stop').innerText(), /Stop it now\?/);
  assert.equal(server.stopped('live'), false);
  await page.locator('#stop').click();
  await page.locator('.live', { hasText: 'Stopping…' }).waitFor();
  assert.equal(server.stopped('live'), true);
  await page.close();
});

test('a page without the token shows no button, and one that had it keeps it for its tab', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 5), stoppable: true });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(5) });
  await page.locator('.live', { hasText: 'live' }).waitFor();
  assert.equal(await page.locator('#stop').count(), 0);
  await page.goto(`${url}/?token=${TOKEN}`);
  await page.locator('#library a', { hasText: 'chat' }).click();
  await page.locator('#stop').click();
  await page.locator('#stop').click();
  await page.locator('.live', { hasText: 'Stopping…' }).waitFor();
  assert.equal(server.stopped('live'), true);
  await page.close();
});

test('a run of another process has no button to stop it', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 5) });
  const page = await open(browser, `${url}/runs/live?token=${TOKEN}`, { ready: ready(5) });
  assert.equal(await page.locator('#stop').count(), 0);
  await page.close();
});

test('the library lists runs, filters them, sorts them and opens one', async () => {
  for (const name of ['chat', 'k6', 'invalid', 'short']) server.add(name, all[name]().lines);
  server.add('broken', all.empty().lines, { row: { state: 'unreadable', name: 'broken' } });
  const page = await open(browser, `${url}/`);
  const names = () => page.locator('#library tbody th').allTextContents();
  assert.deepEqual(await names(), ['chat', 'shop', 'flood', 'smoke', 'broken']);
  await assertAccessible(page, 'library');
  await screenshot(page, 'library');
  await page.fill('#filter', 'invalid');
  assert.deepEqual(await names(), ['flood']);
  await page.fill('#filter', 'no such run');
  assert.match(await page.locator('#library').innerText(), /No run matches/);
  await page.fill('#filter', '');
  await page.locator('[data-sort="users"]').click();
  assert.equal((await names())[0], 'flood');
  await page.locator('#library a', { hasText: 'shop' }).click();
  await page.waitForSelector('html[data-ready="30"]');
  assert.match(await page.locator('h1').innerText(), /shop/);
  assert.equal(await page.locator('.bar a').getAttribute('href'), '/');
  await page.close();
});

test('two runs are selected and laid over one another', async () => {
  server.add('after', all.chat().lines, { row: { name: 'after' } });
  server.add('before', all.chat({ lossy: false }).lines, { row: { name: 'before' } });
  const page = await open(browser, `${url}/`);
  assert.equal(await page.locator('#compare').isDisabled(), true);
  await page.locator('[data-run="before"]').check();
  await page.locator('[data-run="after"]').check();
  await page.locator('#compare').click();
  await page.waitForSelector('html[data-ready="60,60"]');
  assert.equal(new URL(page.url()).search, '?a=before&b=after');
  assert.match(await page.locator('#verdict-a').innerText(), /PASS/);
  assert.match(await page.locator('#verdict-b').innerText(), /FAIL/);
  const [a, b] = [all.chat({ lossy: false }), all.chat()].map(run =>
    run.quantile('response_time', { operation: 'connect' }, 0, 60, 0.99),
  );
  const row = page.locator('#quantiles tbody tr', { has: page.locator('th', { hasText: 'connect' }) });
  const shown = Number(/× ([\d.,]+)/.exec(await row.locator('[data-col="p99"]').innerText())[1]);
  assert.ok(Math.abs(Math.log2(shown / (b / a))) <= 1 / 16 + 0.01, `${shown} and ${b / a}`);
  await page.locator('figure.chart canvas').first().waitFor();
  assert.ok((await page.locator('#side-by-side figure').count()) >= 4);
  await assertAccessible(page, 'compare');
  await screenshot(page, 'compare', { fullPage: true });
  assert.deepEqual(page.problems, []);
  await page.close();
});
