import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Kept, fingerprint } from '../kept.mjs';
import { marked, rewrite } from '../marked.mjs';

let folder;
before(() => (folder = mkdtempSync(join(tmpdir(), 'kept-'))));
after(() => rmSync(folder, { recursive: true }));

const never = () => assert.fail('made again');

test('a result is made once, also for who comes after; one that failed is made again', async () => {
  const file = join(folder, 'deep/results.jsonl');
  const first = new Kept(file);
  assert.deepEqual(await first.of('a 1', async () => ({ value: 7 })), { result: { value: 7 }, isOld: false });
  await first.of('a 2', async () => ({ error: 'no port' }));

  // Cut off in the middle of a line.
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"key":"a 2","val`);
  const second = new Kept(file);
  assert.deepEqual(await second.of('a 1', never), { result: { value: 7 }, isOld: true });
  assert.deepEqual(await second.of('a 2', async () => ({ value: 8 })), { result: { value: 8 }, isOld: false });

  const third = new Kept(file);
  assert.equal((await third.of('a 2', never)).result.value, 8);

  const afresh = new Kept(file, { isFresh: true });
  assert.equal((await afresh.of('a 1', async () => ({ value: 9 }))).isOld, false);
});

test('a fingerprint changes with any of the files', () => {
  const [a, b] = ['a', 'b'].map((name) => join(folder, name));
  for (const file of [a, b]) writeFileSync(file, 'x');
  const before = fingerprint([a, b]);
  writeFileSync(b, 'y');
  assert.notEqual(fingerprint([a, b]), before);
});

test('a part of a page is written anew, and nothing beside it', () => {
  const page = join(folder, 'page.md');
  writeFileSync(page, 'above\n<!-- table:begin -->\nold\n<!-- table:end -->\nbelow\n');
  assert.equal(marked(page, 'table'), 'old\n');
  rewrite(page, 'table', (text) => `${text.trim()} and new\n`);
  assert.equal(readFileSync(page, 'utf8'), 'above\n<!-- table:begin -->\nold and new\n<!-- table:end -->\nbelow\n');
  assert.throws(() => rewrite(page, 'other', () => ''), /no <!-- other:begin -->/);
});
