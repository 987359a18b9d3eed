// Debian's Chromium, and what every browser test does with a page.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { file } from '../fixtures/page.mjs';

const screenshots = fileURLToPath(new URL('../screenshots/', import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a page may take to come to what a test waits for, on a machine that also builds. */
const PATIENCE_MS = 20_000;

export function launch() {
  return chromium.launch({
    executablePath: process.env.SONAGI_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
}

/** Reads until it reads what is expected, or what a pattern matches: a page answers an act when it has time. */
export async function shows(read, expected, what) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      const seen = await read();
      if (expected instanceof RegExp) assert.match(seen, expected, what);
      else assert.deepEqual(seen, expected, what);
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise(done => setTimeout(done, 20));
    }
  }
}

/** Nothing is left to be drawn: a page that was asked for anything takes this away at once. */
export function drawn(page) {
  return page.waitForSelector('html[data-ready]', { state: 'attached' });
}

/** A page that remembers what it asked for and what went wrong in it. */
export async function open(browser, url, { ready = 'html[data-ready]', ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    colorScheme: 'light',
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.requests = [];
  page.problems = [];
  page.on('request', request => page.requests.push(request.url()));
  page.on('pageerror', error => page.problems.push(error.message));
  page.on('console', message => message.type() === 'error' && page.problems.push(message.text()));
  await page.goto(url);
  await page.waitForSelector(ready, { state: 'attached' });
  return page;
}

/** Opens a run's file from the disk, as somebody does who was sent it. */
export async function openFile(browser, lines, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sonagi-page-'));
  const path = join(folder, 'report.html');
  writeFileSync(path, file(lines));
  const url = pathToFileURL(path).href;
  const page = await open(browser, url, { offline: true, ...options });
  page.on('close', () => rmSync(folder, { recursive: true, force: true }));
  page.address = url;
  return page;
}

/** Brings a chart into view and waits until it is drawn. */
export async function chart(page, title) {
  const figure = page.locator('figure.chart', { has: page.locator('h3', { hasText: title }) }).first();
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('.u-over').waitFor();
  return figure;
}

/** Where a share of a chart's width is, in pixels of the page. */
export async function placeOf(figure, share) {
  const box = await figure.locator('.u-over').boundingBox();
  return { x: box.x + share * box.width, y: box.y + box.height / 2 };
}

/** Draws a window over a chart, from one share of its width to another. */
export async function drag(page, figure, from, to) {
  const [a, b] = [await placeOf(figure, from), await placeOf(figure, to)];
  await page.mouse.move(a.x, a.y);
  await page.mouse.down();
  await page.mouse.move((a.x + b.x) / 2, a.y, { steps: 3 });
  await page.mouse.move(b.x, b.y, { steps: 3 });
  await page.mouse.up();
}

/** The window that the page says it shows, in seconds. */
export async function windowOf(page) {
  const bar = page.locator('.window');
  return [Number(await bar.getAttribute('data-from')), Number(await bar.getAttribute('data-to'))];
}

/** Reads a time that the page shows, in milliseconds. */
export function milliseconds(shown) {
  const [number, unit] = shown.trim().split(' ');
  return Number(number.replaceAll(',', '')) * (unit === 's' ? 1_000 : 1);
}

/** Asserts that a shown percentile is the exact one, within half a bucket and three digits. */
export function assertNear(shown, exact, what) {
  const ours = milliseconds(shown);
  assert.ok(Math.abs(Math.log2(ours / exact)) <= 0.5 / 16 + 0.008, `${what}: ${shown}, exactly ${exact}`);
}

/** Asserts that axe finds nothing serious. */
export async function assertAccessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const serious = found.violations.filter(violation => ['serious', 'critical'].includes(violation.impact));
  const told = serious.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .slice(0, 3)
        .map(node => node.html)
        .join(' | ')}`,
  );
  assert.deepEqual(told, [], what);
}

export async function screenshot(page, name, options = {}) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), ...options });
}
