import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { all } from '../fixtures/runs.mjs';
import { assertAccessible, chart, drawn, launch, openFile, screenshot, shows } from './browser.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const background = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const canvas = figure =>
  figure
    .locator('canvas')
    .first()
    .evaluate(element => element.toDataURL());

test('a Korean browser is spoken to in Korean, and can be switched', async () => {
  const page = await openFile(browser, all.chat().lines, { locale: 'ko-KR' });
  assert.equal(await page.getAttribute('html', 'lang'), 'ko');
  const shown = await page.locator('body').innerText();
  for (const word of ['실패', '유력: 대상의 스레드 하나가', '임계값', '지연 시간', '전달', '부하 생성기', '재현'])
    assert.ok(shown.includes(word), word);
  await screenshot(page, 'chat-korean');
  await page.selectOption('#language', 'en');
  await page.waitForSelector('html[lang=en]');
  await shows(() => page.locator('#verdict').innerText(), /FAIL/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

/** Three words of a Latin script in a row, code apart: a sentence that was not said in Korean. */
const LATIN = /[A-Za-z']{2,}(?:[ ,]+[A-Za-z']{2,}){2,}/;

for (const [name, words] of Object.entries({
  chat: [
    '실패',
    '사본 14,256개 중 35개가 유실되었습니다(0.2 %)',
    '위반: delivery.latency_ms.p99 = 1642',
    '수신 확인을 보내는지',
  ],
  invalid: ['무효', '계획된 도착 18,000건 중 12,300건만', '코어의 90 % 넘게', '샤드당 부하를 낮추거나'],
  empty: ['중단됨', '0.0초 뒤 중단되었습니다', '그때까지: 시작된 사용자가 없습니다'],
  k6: ['실패', '임계값 `checks: rate>0.99` 위반: rate = 0.9541'],
})) {
  test(`the Korean page of ${name} says why in Korean`, async () => {
    const page = await openFile(browser, all[name]().lines, { locale: 'ko-KR' });
    const strip = await page.locator('#verdict').innerText();
    for (const word of words) assert.ok(strip.includes(word), `${word} in ${strip}`);
    assert.equal(await page.locator('#verdict [lang=en], #generator [lang=en]').count(), 0);
    for (const place of ['#verdict', '#generator', '#thresholds']) {
      const shown = (await page.locator(place).innerText()).replace(/`[^`]*`/g, '');
      assert.equal(LATIN.exec(shown)?.[0], undefined, place);
    }
    await page.close();
  });
}

test('dark follows the system, and the switch overrules it', async () => {
  const page = await openFile(browser, all.chat().lines, { colorScheme: 'dark' });
  await shows(() => background(page), 'rgb(16, 20, 24)');
  const figure = await chart(page, 'Latency');
  const dark = await canvas(figure);
  await screenshot(page, 'chat-dark');
  await page.locator('#theme').click();
  await shows(() => background(page), 'rgb(255, 255, 255)');
  await shows(async () => (await canvas(figure)) === dark, false);
  await page.close();
});

test('paper is light, without switches, and has every section', async () => {
  const page = await openFile(browser, all.chat().lines, { colorScheme: 'dark' });
  const pdf = await page.pdf({ format: 'A4', printBackground: true });
  assert.ok(pdf.length > 50_000);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  await shows(() => background(page), 'rgb(255, 255, 255)');
  await shows(() => page.locator('#language').isVisible(), false);
  await shows(() => page.locator('#operations tbody tr').count(), 6);
  await screenshot(page, 'chat-print', { fullPage: true });
  await page.close();
});

test('a narrow screen shows all of it without scrolling sideways', async () => {
  for (const name of ['chat', 'k6']) {
    const page = await openFile(browser, all[name]().lines, { viewport: { width: 360, height: 740 } });
    assert.ok((await page.evaluate(() => document.scrollingElement.scrollWidth)) <= 360, name);
    if (name === 'chat') await screenshot(page, 'chat-narrow');
    await page.close();
  }
});

test('the keyboard moves the cursor, a screen reader hears it, and a window is chosen without a pointer', async () => {
  const page = await openFile(browser, all.chat().lines);
  const figure = await chart(page, 'Arrivals a second');
  await figure.focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('Shift+ArrowRight');
  await shows(() => page.locator('.cursor-time').textContent(), 'Cursor 0:30');
  await shows(() => page.locator('#spoken').textContent(), '0:30: started 8/s, planned 8/s');
  await page.keyboard.press('Enter');
  for (let i = 0; i < 4; i += 1) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.window[data-from="30"][data-to="35"]');
  await page.keyboard.press('-');
  await page.waitForSelector('.window[data-from="27"][data-to="38"]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.window[data-from="0"][data-to="60"]');
  await page.close();
});

for (const name of ['chat', 'k6', 'invalid', 'empty', 'short']) {
  for (const colorScheme of ['light', 'dark']) {
    test(`axe finds nothing serious in ${name}, ${colorScheme}`, async () => {
      const page = await openFile(browser, all[name]().lines, { colorScheme });
      await page.locator('details').evaluateAll(found => {
        for (const details of found) details.open = true;
      });
      await shows(() => page.locator('details.as-table[open]:not(:has(table))').filter({ visible: true }).count(), 0);
      await drawn(page);
      await assertAccessible(page, name);
      await page.close();
    });
  }
}

test('what a run looks like is kept as pictures', async () => {
  for (const name of ['chat', 'k6', 'invalid']) {
    const page = await openFile(browser, all[name]().lines);
    await screenshot(page, `${name}-light`, { fullPage: true });
    await page.close();
  }
});
