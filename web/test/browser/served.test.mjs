import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { all } from '../fixtures/runs.mjs';
import { Server, TOKEN } from '../fixtures/server.mjs';
import { assertAccessible, chart, drag, launch, open, placeOf, screenshot, shows } from './browser.mjs';

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
  await shows(() => page.locator('.live').innerText(), '');
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
  assert.ok(streams.slice(1).every(({ resumed }) => Number(resumed.split('-')[1]) >= 20));
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

test('a server that was started anew tells the run anew, and the page begins anew', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 20) });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(20) });
  const invalid = all.invalid().lines;
  server.restart('live', invalid.slice(0, linesTo(invalid, 6)));
  await page.waitForSelector(ready(6));
  await shows(() => page.locator('h1').innerText(), 'flood');
  await shows(() => page.locator('#window').innerText(), 'whole run 0:00 – 0:06');
  assert.match(await page.locator('#load').innerText(), /started\s*5,020/);
  assert.equal(await page.locator('#delivery table').filter({ visible: true }).count(), 0);
  await page.close();
});

test('a stream that fails says why, and is asked for no more', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 20), stoppable: true });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(20) });
  server.fail('live', 'the run folder is gone');
  await shows(() => page.locator('.notice').innerText(), /tells nothing more of this run: the run folder is gone/);
  await page.waitForSelector('html[data-connection="failed"]', { state: 'attached' });
  assert.equal(await page.locator('.live').innerText(), '');
  assert.equal(await owed(page), '2,880');
  await page.selectOption('#language', 'ko');
  await shows(() => page.locator('.notice').innerText(), /서버가[\s\S]*the run folder is gone/);
  assert.equal(server.asked.filter(({ path }) => path.endsWith('/lines')).length, 1);
  await page.close();
});

test('the page of a process goes on to its next run; that of a run stays', async () => {
  const { lines } = all.chat();
  server.add('first', lines, { shown: lines.length - 1, stoppable: true }).add('second', all.short().lines);
  server.current = 'first';
  const [own, named] = [
    await open(browser, `${url}/`, { ready: ready(60) }),
    await open(browser, `${url}/runs/first`, { ready: ready(60) }),
  ];
  server.next('first', 'second');
  await own.waitForSelector(ready(3));
  await shows(() => own.locator('h1').innerText(), 'smoke');
  await shows(() => own.locator('#verdict').innerText(), /PASS/);
  server.grow('first', 1);
  await named.waitForSelector('html[data-connection="closed"]', { state: 'attached' });
  assert.equal(await named.locator('h1').innerText(), 'chat');
  for (const page of [own, named]) await page.close();
});

test('the cursor stays where it was put while the run goes on', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 20) });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(20) });
  const figure = await chart(page, 'Arrivals a second');
  await figure.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+ArrowRight');
  await shows(() => page.locator('.cursor-time').textContent(), 'Cursor 0:10');
  server.grow('live', 4);
  await page.waitForSelector('html[data-ready="23"], html[data-ready="24"]');
  await shows(() => page.locator('.cursor-time').textContent(), 'Cursor 0:10');
  const { x, y } = await placeOf(figure, 0.5);
  await page.mouse.move(x, y);
  await shows(async () => (await page.locator('.cursor-time').textContent()) === 'Cursor 0:10', false);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('tables stay sorted while the run goes on', async () => {
  const { lines } = all.chat();
  const summary = lines.find(line => line.summary);
  const early = [...lines.slice(0, linesTo(lines, 20)), summary, ...lines.slice(linesTo(lines, 20))];
  server.add('live', early, { shown: linesTo(lines, 20) + 1 });
  const page = await open(browser, `${url}/runs/live`, { ready: ready(20) });
  for (const [place, column] of [
    ['#rooms', 'lost'],
    ['#checks', 'users'],
  ]) {
    await page.locator(`${place} [data-sort="${column}"]`).click();
    await page.locator(`${place} [data-sort="${column}"]`).click();
    await page.locator(`${place} th[aria-sort="ascending"]`).waitFor();
  }
  const rooms = () => page.locator('#rooms tbody th').allTextContents();
  await shows(rooms, ['kitchen', 'lobby']);
  server.grow('live', linesTo(early, 23) - linesTo(early, 20) - 1);
  await page.waitForSelector(ready(23));
  assert.deepEqual(await rooms(), ['kitchen', 'lobby']);
  assert.equal(await page.locator('#checks th[aria-sort="ascending"]').count(), 1);
  await page.close();
});

test('the run is stopped by two clicks and the token, and by nothing less', async () => {
  const { lines } = all.chat();
  server.add('live', lines, { shown: linesTo(lines, 5), stoppable: true });
  const page = await open(browser, `${url}/runs/live?token=${TOKEN}&a=1#errors`, { ready: ready(5) });
  assert.equal(page.url(), `${url}/runs/live?a=1#errors`, 'nobody sees the token');
  await page.locator('#stop').click();
  await shows(() => page.locator('#stop').innerText(), /Stop it now\?/);
  assert.equal(server.stopped('live'), false);
  await page.locator('#stop').click();
  await page.locator('.live', { hasText: 'Stopping…' }).waitFor();
  await shows(() => server.stopped('live'), true);
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
  assert.match(
    await page.locator('#library tbody').innerText(),
    /expected deliveries were lost \(0\.2 %\) \(and 2 more\)/,
  );
  const region = page.locator('#library .scroll');
  assert.ok(await region.evaluate(element => element.scrollWidth <= element.clientWidth), 'it fits 1,280 pixels');
  await screenshot(page, 'library');
  await page.fill('#filter', 'invalid');
  await shows(names, ['flood']);
  await page.fill('#filter', 'no such run');
  await shows(() => page.locator('#library').innerText(), /No run matches/);
  await page.fill('#filter', '');
  await page.locator('[data-sort="users"]').click();
  await shows(async () => (await names())[0], 'flood');
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
  const shown = await ratioOf(page, 'connect', 'p99');
  assert.ok(Math.abs(Math.log2(shown / (b / a))) <= 1 / 16 + 0.01, `${shown} and ${b / a}`);
  await shows(async () => (await page.locator('#side-by-side figure canvas').count()) >= 4, true);
  await assertAccessible(page, 'compare');
  await screenshot(page, 'compare', { fullPage: true });
  assert.deepEqual(page.problems, []);
  await page.close();
});

/** A quantile's ratio as the page of two runs shows it. */
async function ratioOf(page, name, quantile) {
  const row = page.locator('#quantiles tbody tr', { has: page.locator('th', { hasText: name }) });
  return Number(/× ([\d.,]+)/.exec(await row.locator(`[data-col="${quantile}"]`).innerText())?.[1]);
}

const counted = (page, figure) =>
  page
    .locator('#counts tbody tr', { has: page.locator('th', { hasText: figure }) })
    .locator('td')
    .allInnerTexts();

test('a window drawn over two runs recomputes their ratios and counts from its values', async () => {
  const recorded = [all.chat({ lossy: false }), all.chat()];
  server.add('a', recorded[0].lines).add('b', recorded[1].lines);
  const page = await open(browser, `${url}/compare?a=a&b=b`, { ready: ready('60,60') });
  await shows(() => counted(page, 'messages received'), ['14,259', '14,224', '× 0.998 less']);
  await drag(page, await chart(page, 'users'), 30.2 / 60, 34.8 / 60);
  await page.waitForSelector('.window[data-from="30"][data-to="35"]');
  const tags = { operation: 'connect' };
  const [a, b] = recorded.map(run => run.quantile('response_time', tags, 30, 35, 0.99));
  const shown = await ratioOf(page, 'connect', 'p99');
  assert.ok(Math.abs(Math.log2(shown / (b / a))) <= 1 / 16 + 0.01, `${shown} and ${b / a}`);
  await shows(() => counted(page, 'lost'), ['0', '35', '–']);
  await shows(() => counted(page, 'Length'), ['5 s', '5 s', '× 1 same']);
  await page.locator('.window button').click();
  await shows(() => counted(page, 'Length'), ['1:00', '1:00', '× 1 same']);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('two runs stay where the reader put them while one of them goes on', async () => {
  const { lines } = all.chat();
  server.add('a', all.chat({ lossy: false }).lines).add('b', lines, { shown: linesTo(lines, 20) });
  const page = await open(browser, `${url}/compare?a=a&b=b`, { ready: ready('60,20') });
  await page.locator('#quantiles [data-sort="p99"]').click();
  await page.waitForSelector('#quantiles th[aria-sort="descending"]');
  const figure = await chart(page, 'users');
  await figure.evaluate(element => {
    element.dataset.known = 'yes';
  });
  await figure.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+ArrowRight');
  await shows(() => page.locator('.cursor-time').textContent(), 'Cursor 0:10');
  const place = async () => (await figure.boundingBox()).y;
  const before = await place();
  server.grow('b', lines.length);
  await page.waitForSelector(ready('60,60'));
  await shows(() => page.locator('#verdict-b').innerText(), /FAIL/);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.known), 'yes');
  assert.equal(await page.locator('.cursor-time').textContent(), 'Cursor 0:10');
  assert.equal(await page.locator('#quantiles th[aria-sort]').getAttribute('aria-sort'), 'descending');
  assert.ok(Math.abs((await place()) - before) < 30, `${before}, then ${await place()}`);
  await page.close();
});
