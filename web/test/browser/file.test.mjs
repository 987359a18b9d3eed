import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { file } from '../fixtures/page.mjs';
import { head, summary } from '../fixtures/parts.mjs';
import { Recorder } from '../fixtures/recorder.mjs';
import { all } from '../fixtures/runs.mjs';
import { assertNear, chart, drag, drawn, launch, open, openFile, placeOf, shows, windowOf } from './browser.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The cell of an operation in the table of operations. */
function cell(page, operation, column) {
  const row = page.locator('#operations tbody tr', { has: page.locator('th', { hasText: operation }) });
  return row.locator(`[data-col="${column}"]`).textContent();
}

for (const [name, words] of Object.entries({
  chat: ['FAIL', 'expected deliveries were lost', 'emit sendMessage', 'no acknowledgement within 10 s', 'lobby'],
  k6: [
    'FAIL',
    'checks: rate>0.99',
    'Iterations\n',
    'waiting_room',
    'has a <title>',
    '/search',
    'cache cleared (by: deploy, zone: a)',
    'the test begins, with its setup',
    'the test is over, its teardown included',
    'docs/ledger.md',
  ],
  invalid: [
    'INVALID',
    'The load generator fell behind',
    'Use more cores or a lower rate',
    'more than 90 % of its core for 15 s on end',
  ],
  cutOff: ['CUT OFF', 'no closing record'],
  unfinished: [
    'STILL RUNNING',
    'was under way when this report was written',
    '0:03 of ',
    'So far: none of 360 iterations completed',
    // Users who iterate as often as they can.
    'Iterations\n360',
  ],
  empty: ['INTERRUPTED', 'No second of this run was recorded', 'sonagi report FOLDER'],
  short: ['PASS', 'The run has only 3 s', 'docs/ledger.md', 'thresholds'],
  crowd: [
    'PASS',
    '10,000 of 10,000 started',
    '10,000 concurrent',
    // What a script without requests could ask for.
    '"operations.connect.response_ms.p95": 300',
  ],
})) {
  test(`the file of ${name} tells what happened, and asks for nothing but itself`, async () => {
    const page = await openFile(browser, all[name]().lines);
    const shown = await page.locator('body').innerText();
    for (const word of words) assert.ok(shown.includes(word), word);
    assert.deepEqual(page.problems, []);
    assert.deepEqual(
      page.requests.filter(url => !url.startsWith('data:')),
      [page.address],
    );
    await page.close();
  });
}

test('a section that has nothing to say has no link either', async () => {
  for (const [run, isThere] of [
    [all.chat(), true],
    [all.cutOff(), false],
  ]) {
    const page = await openFile(browser, run.lines);
    for (const place of ['section#diagnosis', 'a[href="#diagnosis"]'])
      assert.equal(await page.locator(place).isVisible(), isThere, place);
    await page.close();
  }
});

test('sections are in the order in which one asks', async () => {
  const page = await openFile(browser, all.chat().lines);
  const ids = await page.locator('main > section').evaluateAll(sections => sections.map(section => section.id));
  assert.deepEqual(ids, [
    'verdict',
    'diagnosis',
    'thresholds',
    'errors',
    'load',
    'latency',
    'delivery',
    'generator',
    'lanes',
    'spectrum',
    'operations',
    'checks',
    'events',
    'reproduce',
  ]);
  await page.close();
});

test('what broke first is told with its evidence, what to try, and what it was not', async () => {
  const page = await openFile(browser, all.chat().lines);
  const section = page.locator('#diagnosis');
  const shown = await section.innerText();
  for (const words of [
    'Likely: One thread of the target did all the work, and it was full. from 0:29 on',
    '99 % of a core (31 % before), full from 29 s on target.cpu.main_thread',
    'send less to each: batch broadcasts, smaller rooms, fewer copies',
    'impact 2 · ease 2 · at hand 2 · cost 2 · scales 3 · severity 3 · safety 2',
    '0:30 p95 of delivery rose from 24 to 1640 ms',
    '! 8.00 users were active, but 30.0 sessions a second of 200 ms each are those of 6.00',
  ])
    assert.ok(shown.includes(words), `${words} in ${shown}`);
  await section.locator('summary', { hasText: 'Ruled out (1)' }).click();
  await shows(() => section.innerText(), /death of the target: all of the target's processes lived on/);
  assert.ok(!(await section.innerText()).includes('redis was not measured'));
  await page.close();
  const calm = await openFile(browser, all.chat({ lossy: false }).lines);
  await shows(() => calm.locator('#diagnosis').innerText(), /The target kept up: nothing to explain/);
  await calm.close();
  // Nobody looked, and nothing happened: no section.
  const { lines } = all.short();
  const quiet = await openFile(browser, lines);
  assert.equal(await quiet.locator('#diagnosis').isVisible(), false);
  await quiet.close();
});

test('lost copies are told by where they were', async () => {
  const page = await openFile(browser, all.chat().lines);
  await page.locator('#delivery').scrollIntoViewIfNeeded();
  const row = fate => page.locator('#delivery tbody tr', { has: page.locator('th', { hasText: fate }) });
  const total = fate => row(fate).locator('[data-col="total"]').textContent();
  await shows(() => total(/^lost/), '35');
  await shows(() => total('– with nothing after them'), '21');
  await shows(() => total('– before others that arrived'), '10');
  await shows(() => total('– of messages that reached nobody'), '4');
  // None was the sender's own: no row.
  assert.equal(await page.locator('#delivery tbody tr', { hasText: 'a sender’s own copy' }).count(), 0);
  await page.close();
  const calm = await openFile(browser, all.chat({ lossy: false }).lines);
  await calm.locator('#delivery').scrollIntoViewIfNeeded();
  assert.equal(await calm.locator('#delivery tbody th', { hasText: /^–/ }).count(), 0);
  await calm.close();
});

test('a watch shows what was seen, and nothing of a load that there was not', async () => {
  const page = await openFile(browser, all.watch().lines);
  const ids = await page.locator('main > section').evaluateAll(sections => sections.map(section => section.id));
  assert.deepEqual(ids, ['verdict', 'lanes', 'events', 'reproduce']);
  assert.deepEqual(
    await page.locator('nav.contents a').evaluateAll(links => links.map(link => link.getAttribute('href'))),
    ['#lanes', '#events', '#reproduce'],
  );
  assert.equal(await page.getAttribute('#verdict', 'data-outcome'), 'watched');
  const lanes = await page.locator('#lanes .lane').evaluateAll(found => found.map(lane => lane.dataset.metric));
  assert.deepEqual(lanes, ['target.cpu', 'host.cpu']);
  await page.locator('#lanes details.more > summary', { hasText: '1 more metric' }).click();
  await page.waitForSelector('.lane[data-metric="host.load"]');
  const shown = await page.locator('body').innerText();
  for (const words of ['WATCHED', 'without a load', 'port 3000: process 7 (node) ended'])
    assert.ok(shown.includes(words), `${words} in ${shown}`);
  for (const words of ['PASS', 'percentiles of so few values', 'kept up', 'Artillery', 'Users'])
    assert.ok(!shown.includes(words), `${words} in ${shown}`);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the spectrum is drawn wherever its values begin', async () => {
  // Nine tenths of the smallest are right below a power of ten.
  const run = new Recorder(head('edge', 'artillery'));
  for (let second = 0; second < 3; second += 1) {
    for (const ms of [0.109, 0.4, 3, 6.3]) run.time('response_time', ms, { operation: 'subscribe' });
    run.tick();
  }
  const page = await openFile(browser, run.end(summary('edge', 3, { result: 'pass' })).lines);
  assert.deepEqual(page.problems, []);
  await page.locator('#spectrum canvas').waitFor();
  await page.close();
});

test('one cursor stands at the same moment in every chart', async () => {
  const page = await openFile(browser, all.chat().lines);
  const figure = await chart(page, 'Arrivals a second');
  const { x, y } = await placeOf(figure, 0.534);
  await page.mouse.move(x, y);
  await shows(() => page.locator('.cursor-time').textContent(), 'Cursor 0:32');
  const lines = page.locator('figure[tabindex] .u-cursor-x');
  const places = () =>
    lines.evaluateAll(found =>
      found.filter(line => line.offsetParent).map(line => Math.round(line.getBoundingClientRect().left)),
    );
  assert.ok((await places()).length >= 10);
  await shows(async () => new Set(await places()).size, 1);
  const planned = figure.locator('.key', { hasText: 'planned' }).locator('b');
  await shows(() => planned.textContent(), '8/s');
  await page.close();
});

test('a window drawn over a chart recomputes percentiles from its values', async () => {
  const recorded = all.chat();
  const page = await openFile(browser, recorded.lines);
  const figure = await chart(page, 'Arrivals a second');
  await drag(page, figure, 30.2 / 60, 34.8 / 60);
  await page.waitForSelector('.window[data-from="30"][data-to="35"]');
  await drawn(page);
  await page.locator('#operations').scrollIntoViewIfNeeded();
  for (const [column, q] of [
    ['p50', 0.5],
    ['p90', 0.9],
    ['p99', 0.99],
  ]) {
    const exact = recorded.quantile('response_time', { operation: 'POST /auth/login' }, 30, 35, q);
    assertNear(await cell(page, 'POST /auth/login', column), exact, column);
  }
  assert.equal(await cell(page, 'emit sendMessage', 'failed'), `10 (${'7.69 %'})`);
  const spectrum = page.locator('#spectrum tbody tr', { hasText: 'from the planned start' });
  assertNear(
    await spectrum.locator('[data-q="0.99"]').textContent(),
    recorded.quantile('response_time', {}, 30, 35, 0.99),
    'spectrum',
  );
  assert.equal(
    await page.locator('#delivery tr', { hasText: /^lost/ }).locator('[data-col="window"]').textContent(),
    '35',
  );
  await page.locator('.window button').click();
  await page.waitForSelector('.window[data-from="0"][data-to="60"]');
  await page.close();
});

test('the heat map is switched by metric, operation and tag', async () => {
  const recorded = all.k6();
  const page = await openFile(browser, recorded.lines);
  await chart(page, 'Latency');
  const p50 = () => page.locator('#latency .key', { hasText: 'p50' }).locator('b').textContent();
  assertNear(await p50(), recorded.quantile('http_req_duration', {}, 0, 30, 0.5), 'all');
  await page.selectOption('#latency-part', { label: '/search' });
  await drawn(page);
  assertNear(await p50(), recorded.quantile('http_req_duration', { name: '/search' }, 0, 30, 0.5), '/search');
  await page.selectOption('#latency-metric', 'waiting_room');
  await page.selectOption('#latency-part', { label: 'b' });
  await drawn(page);
  assertNear(await p50(), recorded.quantile('waiting_room', { zone: 'b' }, 0, 30, 0.5), 'zone b');
  await page.close();
});

test('all columns of the table of operations are in sight on a usual screen', async () => {
  const page = await openFile(browser, all.chat().lines);
  const region = page.locator('#operations .scroll');
  assert.ok(await region.evaluate(element => element.scrollWidth <= element.clientWidth));
  await page.close();
});

test('what functions of the script took has a row, and is no part of the sum', async () => {
  const page = await openFile(browser, all.short().lines);
  const row = operation => Promise.all(['count', 'failed', 'max'].map(column => cell(page, operation, column)));
  assert.deepEqual(await row('sign'), ['6', '3 (50 %)', '400 ms']);
  const [count, failed, max] = await row('all');
  assert.deepEqual([count, failed], ['6', '0']);
  assert.equal(max, await cell(page, 'GET /health', 'max'));
  await page.close();
});

test('columns of the table of operations sort it, with the sum on top', async () => {
  const page = await openFile(browser, all.chat().lines);
  await page.locator('#operations [data-sort="p50"]').click();
  const names = () => page.locator('#operations tbody th').allTextContents();
  await shows(async () => (await names()).slice(0, 2), ['all', 'POST /auth/login']);
  await shows(() => page.locator('#operations th[aria-sort]').getAttribute('aria-sort'), 'descending');
  await page.locator('#operations [data-sort="p50"]').click();
  await shows(async () => (await names()).at(-1), 'POST /auth/login');
  await page.close();
});

test('a metric nobody knew has a lane of its own', async () => {
  const page = await openFile(browser, all.k6().lines);
  const lanes = await page.locator('#lanes .lane').evaluateAll(found => found.map(lane => lane.dataset.metric));
  for (const metric of ['waiting_room', 'cache_hits', 'basket_size', 'orders', 'queue_depth'])
    assert.ok(lanes.includes(metric), metric);
  assert.match(await page.locator('.lane[data-metric="orders"]').innerText(), /EUR\s*180/);
  await page.locator('#lanes details.more:not(.further) > summary').click();
  await page.waitForSelector('.lane[data-metric="http_req_blocked"]');
  await page.close();
});

test('what a chart has no room for is told and can be opened', async () => {
  const page = await openFile(browser, all.wide().lines);
  const keys = place => page.locator(`${place} .key`).filter({ visible: true }).allInnerTexts();
  const lane = '.lane[data-metric="shard_depth"]';
  assert.equal((await keys(lane)).length, 6);
  assert.equal(await page.locator(`${lane} details.further > summary`).innerText(), '4 more series');
  await page.locator(`${lane} details.further > summary`).click();
  await shows(async () => (await keys(lane)).at(-1), /^shard 9\s*94$/);
  assert.equal((await keys(lane)).length, 10);
  const threads = '#generator details.further';
  assert.equal(await page.locator(`${threads} > summary`).innerText(), '2 more series');
  await page.locator(`${threads} > summary`).click();
  await shows(async () => (await keys(threads)).at(-1), /^thread 9\s*≤ 50 %$/);
  assert.equal(await page.locator('.lane[data-metric="level_63"]').count(), 0);
  await page.locator('#lanes details.more:not(.further) > summary', { hasText: '5 more metrics' }).click();
  await page.waitForSelector('.lane[data-metric="level_63"] canvas');
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('behind every chart is a table of the same values', async () => {
  const page = await openFile(browser, all.chat().lines);
  const figure = await chart(page, 'Copies a second');
  await figure.locator('summary').click();
  const row = figure.locator('tbody tr', { has: page.locator('th', { hasText: '0:32' }) });
  await shows(() => row.locator('td').allTextContents(), ['261/s', '288/s']);
  await page.close();
});

test('a damaged file says so and shows what came before the damage', async () => {
  const page = await openFile(browser, all.chat().lines);
  const whole = file(all.chat().lines);
  const torn = whole.replace(
    /(type="application\/gzip;base64">)([^<]*)/,
    (_, tag, data) => tag + data.slice(0, 4 * Math.floor(data.length / 8)),
  );
  const { writeFileSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  writeFileSync(fileURLToPath(page.address), torn);
  await page.reload();
  await drawn(page);
  assert.match(await page.locator('.notice').innerText(), /damaged/);
  assert.ok((await windowOf(page))[1] > 3);
  await page.close();
});

test('a page without a run says how to get one', async () => {
  const { pathToFileURL } = await import('node:url');
  const page = await open(browser, pathToFileURL(new URL('../../dist/page.html', import.meta.url).pathname).href);
  assert.match(await page.locator('body').innerText(), /carries no run[\s\S]*sonagi report/);
  await page.close();
});

test('ten minutes with thirty series and a hundred operations a second are at most 600 kB', () => {
  assert.ok(file(all.long({ seconds: 600, span: 1, values: 20 }).lines).length <= 600_000);
});
