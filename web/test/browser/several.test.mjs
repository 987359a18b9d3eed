// Pages of several runs together: matrices, two sides of runs, searches for a capacity.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { all } from '../fixtures/runs.mjs';
import { Server } from '../fixtures/server.mjs';
import { assertAccessible, launch, open, screenshot, shows } from './browser.mjs';

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

const ready = rows => `html[data-ready="${rows}"]`;

/** Three sizes of a pool, five runs each: 2 is far too small, 10 and 50 are alike. */
const pools = {
  name: 'pool',
  started: '2026-11-24T10:15:00Z',
  sonagi: '0.1.0',
  command: ['sonagi', 'run', 'pool.yml', '--repeat', '5'],
  machine: '2 cores of a machine',
  verdict: {
    held: false,
    asks_for_users: false,
    headline: '14 of 15 runs passed',
    others: ['2, round 3: FAIL; it was slow'],
  },
  remarks: [{ label: 'seed', sentence: "7 draws the order of each round and its runs' seeds" }],
  table: {
    axes: ['pool'],
    columns: ['passed', 'http p99'],
    legend: 'Times in ms. http: planned request to answer. 4xx/5xx: share of answers with such a status.',
    rows: [row('2', '4 of 5', '468', false), row('10', '5 of 5', '55.0', true), row('50', '5 of 5', '54.0', true)],
  },
  links: { before: '/runs/', within: 'pools/', behind: '' },
  choices: [
    {
      axis: 'pool',
      within: {},
      figure: { name: 'operations.list.response_ms.p99' },
      tried: [
        tried(2, [460, 470, 468, 465, 477], { effect: { scale: 'ratio', estimate: 8.67 }, judgement: 'worse' }),
        tried(10, [55, 54, 55, 56, 55], { effect: { scale: 'ratio', estimate: 1.02 }, judgement: 'same' }),
        tried(50, [54, 54, 53, 55, 54], null),
        { value: 90, runs: [], mean: null, interval: null, against_best: null, unjudged: { not_run: null } },
      ],
      best: 2,
      take: 1,
      edge: null,
      headline: 'pool 50 is the best',
      remarks: [
        { label: 'take', sentence: 'pool 10: the smallest value that is as good as the best' },
        { label: 'not judged', sentence: 'pool 90: could not run' },
      ],
    },
  ],
};

function row(pool, held, p99, isHeld) {
  const runs = [1, 2].map(round => ({
    round,
    held: isHeld,
    word: isHeld ? 'PASS' : 'FAIL',
    folder: `pool-${pool}-${round}`,
  }));
  return { held: isHeld, values: [pool], cells: [held, p99], runs };
}

function tried(value, runs, against_best) {
  const mean = runs.reduce((sum, run) => sum + run, 0) / runs.length;
  return { value, runs, mean, interval: [mean * 0.97, mean * 1.03], against_best };
}

test('a matrix has a row a value, with a dot a run and the word of the binary', async () => {
  server.matrices.pools = pools;
  server.add('pools/pool-2-1', all.short().lines);
  const library = await open(browser, `${url}/`, { ready: ready(1) });
  await library.locator('#experiments a', { hasText: 'pools' }).click();
  await library.waitForSelector('#matrix');
  await library.close();
  const page = await open(browser, `${url}/matrices/pools`, { ready: ready(1) });
  assert.match(
    await page.locator('#matrix').innerText(),
    /Take pool 10: no smaller [^.]*\. Best by operations\.list\.response_ms\.p99: pool 50\./,
  );
  assert.match(await page.locator('#verdict').innerText(), /NOT ALL PASSED[\s\S]*14 of 15 runs[\s\S]*2, round 3: FAIL/);
  const combinations = page.locator('#combinations tbody tr');
  assert.match(await combinations.nth(1).innerText(), /10\s+5 of 5\s+55\.0\s+1 PASS · 2 PASS/);
  assert.equal(await combinations.nth(0).locator('a').first().getAttribute('href'), '/runs/pools%2Fpool-2-1');
  assert.match(await page.locator('#remarks').innerText(), /seed\s+7 draws/);
  assert.equal(await page.locator('#reproduce .command').textContent(), 'sonagi run pool.yml --repeat 5');
  const rows = page.locator('#choice-0 tbody tr');
  assert.deepEqual(await rows.locator('[data-judgement]').allTextContents(), [
    'worse',
    'the same within the margin',
    'best',
    'not judged',
  ]);
  assert.match(await page.locator('#choice-0 dl').innerText(), /^not judged\s+pool 90: could not run$/);
  assert.equal(await rows.nth(0).locator('.dots .run').count(), 5);
  assert.match(await rows.nth(0).innerText(), /468 ms[\s\S]*× 8\.67/);
  const centre = row => row.locator('.dots .mean').evaluate(line => Number(line.getAttribute('x1')));
  assert.ok((await centre(rows.nth(0))) > 5 * (await centre(rows.nth(1))), 'rows share a scale from 0');
  await assertAccessible(page, 'matrix');
  await screenshot(page, 'matrix');
  await page.selectOption('#language', 'ko');
  await shows(() => rows.locator('[data-judgement]').nth(2).textContent(), '최선');
  assert.equal(
    await page.locator('#verdict .meaning [lang=en], #combinations [lang=en], #remarks dt [lang=en]').count(),
    0,
  );
  assert.deepEqual(page.problems, []);
  await page.close();
});

const sides = {
  mood: 'bad',
  verdict: 'worse',
  word: 'WORSE',
  headline: 'operations.list.response_ms.p99: B is 1.230 × A (1.120–1.350), 5 runs a side',
  sides: [
    { label: 'A', runs: 5 },
    { label: 'B', runs: 5 },
  ],
  remarks: [
    { label: 'sees', sentence: 'runs that vary as these do show a change of 8 % nine times in ten' },
    { label: 'note', sentence: 'the 2 other figures are judged together (Holm); the first one decides' },
  ],
  rows: [
    {
      name: 'operations.list.response_ms.p99',
      runs: [
        [50, 51, 49, 50, 52],
        [61, 62, 60, 63, 61],
      ],
      means: [50.4, 61.4],
      shown: ['50.4 ms', '61.4 ms'],
      change: '1.230',
      interval: '1.120–1.350',
      judgement: 'worse',
      word: 'worse',
    },
    {
      name: 'delivery.ratio',
      runs: [
        [1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1],
      ],
      means: [1, 1],
      shown: ['100.00 %', '100.00 %'],
      change: '+ 0.00 pt',
      interval: '+0.00 to +0.00',
      judgement: 'same',
      word: 'same',
    },
  ],
  started: '2026-11-23T10:00:00Z',
  sonagi: '0.1.0',
};

test('two sides of runs have a row a figure, with a dot a run of each on one scale', async () => {
  server.sides.change = sides;
  const page = await open(browser, `${url}/sides/change`, { ready: ready(2) });
  assert.match(await page.locator('#verdict').innerText(), /WORSE[\s\S]*B is 1\.230 × A[\s\S]*A: 5 runs · B: 5 runs/);
  const rows = page.locator('#figures tbody tr');
  assert.match(await rows.nth(0).innerText(), /p99[\s\S]*50\.4 ms\s+61\.4 ms\s+1\.230\s+1\.120–1\.350\s+worse/);
  assert.equal(await rows.nth(0).locator('.dots .run').count(), 10);
  const means = await rows
    .nth(0)
    .locator('.dots .mean')
    .evaluateAll(lines => lines.map(line => ['x1', 'y1'].map(name => Number(line.getAttribute(name)))));
  const [[a, above], [b, below]] = means;
  assert.ok(b > 1.2 * a && b < 1.23 * a, `on one scale from 0: ${a} and ${b}`);
  assert.ok(below > above, 'B stands below A');
  assert.match(await page.locator('#remarks').innerText(), /sees\s+runs that vary/);
  await assertAccessible(page, 'sides');
  await screenshot(page, 'sides');
  await page.selectOption('#language', 'ko');
  await shows(() => page.locator('#verdict').innerText(), /나쁨/);
  assert.equal(await page.locator('#sides [lang=en]').count(), 0);
  assert.deepEqual(page.problems, []);
  await page.close();
});

/** A search that has made so many of its trials; all of them are an answer. At 160/s nothing is answered any more. */
function search(trials) {
  const all = [
    { load: 10, outcome: 'held', p99_ms: 12, delivered: 1 },
    { load: 40, outcome: 'held', p99_ms: 14, delivered: 1 },
    { load: 160, outcome: 'missed', p50_ms: null, p99_ms: null, delivered: 0 },
    { load: 80, outcome: 'held', p99_ms: 41, delivered: 1 },
    { load: 84, outcome: 'missed', p99_ms: 410, delivered: 0.96 },
    { load: 84, outcome: 'unreliable', p99_ms: 30, delivered: null },
    { load: 84, outcome: 'stolen', p99_ms: 350, delivered: 0.97 },
  ];
  const is_over = trials === all.length;
  const made = all.slice(0, trials).map((trial, at) => ({
    p50_ms: 9,
    length: '20 s',
    evidence: `http.response_time.p99 ${trial.p99_ms === null ? 'was not measured' : `= ${trial.p99_ms}`}`,
    name: `${trial.load}/s`,
    folder: `00${at + 1}-${trial.load}`,
    ...trial,
  }));
  return {
    name: 'bucket',
    started: '2026-11-24T10:15:00Z',
    sonagi: '0.1.0',
    varied: 'rate',
    until: 'http.response_time.p99 < 300',
    command: ['sonagi', 'capacity', 'bucket.yml'],
    is_over,
    mood: is_over ? 'good' : 'running',
    verdict: is_over
      ? '80/s holds (confirmed 3 of 3), 84/s does not (failed 2 of 2); width 4.8 %'
      : 'not found: the search was cut off',
    beside: is_over ? ['operate at 56/s (70 %)'] : [],
    known: 'so far: 40/s held (unconfirmed)',
    lower: is_over ? { load: 80, name: '80/s' } : null,
    upper: is_over ? { load: 84, name: '84/s' } : null,
    columns: ['load', 'achieved', 'p50', 'p99', 'delivered'],
    rows: made.map(trial => ({
      load: trial.name,
      cells: ['9/s', '9 ms', trial.p99_ms === null ? '-' : `${trial.p99_ms} ms`, '100 %'],
      verdict: trial.outcome === 'held' ? 'held 1 of 1' : 'failed 1 of 1',
    })),
    trials: made,
    recovered: [],
    budget: `${trials} trials, ${20 * trials} s of 15 min`,
    links: { before: '/runs/', within: 'bucket-capacity/', behind: '' },
  };
}

test('a search for a capacity is seen growing until it has its answer, with a mark a trial', async () => {
  server.capacities['bucket-capacity'] = search(2);
  const library = await open(browser, `${url}/`, { ready: 'html[data-ready]' });
  await library.locator('#experiments a', { hasText: 'bucket-capacity' }).click();
  await library.waitForSelector('#capacity');
  await library.close();
  const page = await open(browser, `${url}/capacities/bucket-capacity`, { ready: ready(2) });
  assert.match(await page.locator('#verdict').innerText(), /searching[\s\S]*so far: 40\/s held/);
  const marks = (chart, kind) => page.locator(`.capacity-chart.${chart} .${kind}`);
  const counts = chart =>
    Promise.all(['held', 'missed', 'unreliable', 'bracket'].map(kind => marks(chart, kind).count()));
  assert.deepEqual([await counts('latency'), await counts('delivery')], Array(2).fill([2, 0, 0, 0]));
  await page.click('#trials [data-sort=load]');
  server.capacities['bucket-capacity'] = search(7);
  await page.waitForSelector(ready(7));
  assert.match(await page.locator('#verdict').innerText(), /FOUND[\s\S]*80\/s holds[\s\S]*operate at 56\/s/);
  assert.deepEqual([await counts('latency'), await counts('delivery')], Array(2).fill([3, 2, 2, 1]));
  const across = chart => marks(chart, 'held').evaluateAll(dots => dots.map(dot => Number(dot.getAttribute('cx'))));
  const [low, high] = await across('latency');
  assert.ok(high > low + 20, 'a higher load stands further right');
  assert.deepEqual(await across('delivery'), await across('latency'), 'loads are on one scale');
  assert.equal(await page.getAttribute('#trials th:nth-child(2)', 'aria-sort'), 'descending', 'as it was sorted');
  await page.click('#trials [data-sort=number]');
  await page.click('#trials [data-sort=number]');
  const trials = page.locator('#trials tbody tr');
  assert.match(await trials.nth(6).innerText(), /7\s+84\/s\s+20 s\s+failed under CPU steal, repeated/);
  assert.match(await trials.nth(2).innerText(), /3\s+160\/s\s+20 s\s+failed[\s\S]*p99 was not measured/);
  assert.equal(await trials.nth(2).locator('a').getAttribute('href'), '/runs/bucket-capacity%2F003-160');
  await assertAccessible(page, 'capacity');
  await screenshot(page, 'capacity');
  const asked = () => server.asked.filter(({ path }) => path === '/api/capacities/bucket-capacity').length;
  const before = asked();
  await page.selectOption('#language', 'ko');
  await shows(() => page.locator('#verdict').innerText(), /찾음/);
  assert.equal(await page.locator('#capacity [lang=en]').count(), 0);
  assert.match(await page.locator('#verdict').innerText(), /초당 80까지 견딥니다[\s\S]*초당 56/);
  await page.waitForTimeout(1_500);
  assert.equal(asked(), before, 'an answer is asked for no more');
  assert.deepEqual(page.problems, []);
  await page.close();
});

/** The marks of a chart of a search: their titles, and how far down they are. */
function marksOf(page, chart) {
  const marks = page.locator(`.capacity-chart.${chart} :is(.held, .missed, .unreliable)`);
  return marks.evaluateAll(shapes =>
    shapes.map(shape => ({ title: shape.querySelector('title').textContent, y: shape.getBoundingClientRect().y })),
  );
}

test('a trial without an answer, or in which nothing was owed, is at the edge of its chart', async () => {
  server.capacities['bucket-capacity'] = search(7);
  const page = await open(browser, `${url}/capacities/bucket-capacity`, { ready: ready(7) });
  const latency = await marksOf(page, 'latency');
  assert.deepEqual(
    latency.map(({ title }) => title),
    [
      '10/s · held · p99 12 ms',
      '40/s · held · p99 14 ms',
      '160/s · failed · no answer arrived',
      '80/s · held · p99 41 ms',
      '84/s · failed · p99 410 ms',
      '84/s · generator fell behind · p99 30 ms',
      '84/s · failed under CPU steal, repeated · p99 350 ms',
    ],
  );
  const [, , unanswered, ...others] = latency;
  assert.ok(
    others.every(({ y }) => y > unanswered.y + 10),
    'it is above all latencies',
  );
  const delivery = await marksOf(page, 'delivery');
  assert.deepEqual(
    delivery.map(({ title }) => title),
    [
      '10/s · held · 100 % delivered',
      '40/s · held · 100 % delivered',
      '160/s · failed · 0 % delivered',
      '80/s · held · 100 % delivered',
      '84/s · failed · 96 % delivered',
      '84/s · generator fell behind · nothing was owed',
      '84/s · failed under CPU steal, repeated · 97 % delivered',
    ],
  );
  const [all, , nothing, , most, unowed] = delivery.map(({ y }) => y);
  assert.ok(all < most && most < nothing && nothing < unowed - 10, 'what arrived rises, what was not owed is below');
  assert.match(await page.locator('.capacity-chart.latency').getAttribute('aria-label'), /in 1 of which no answer/);
  assert.match(await page.locator('.capacity-chart.delivery').getAttribute('aria-label'), /7 trials by load and share/);
  await page.close();
});

test('a search without a ledger has a chart of latency alone', async () => {
  const { trials, ...rest } = search(7);
  server.capacities['bucket-capacity'] = { ...rest, trials: trials.map(trial => ({ ...trial, delivered: null })) };
  const page = await open(browser, `${url}/capacities/bucket-capacity`, { ready: ready(7) });
  assert.equal(await page.locator('#curve h2').textContent(), 'Load and latency');
  assert.deepEqual(
    [(await marksOf(page, 'latency')).length, await page.locator('.capacity-chart.delivery').count()],
    [7, 0],
  );
  await page.close();
});
