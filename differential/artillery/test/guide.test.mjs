// The list of differences, its evidence, and the guide that is made of it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { cases } from '../lib/cases.mjs';
import { declared } from '../lib/declared.mjs';
import { guide } from '../lib/guide.mjs';

const ROOT = new URL('../../../', import.meta.url);
const names = new Set(cases().map(({ name }) => name));

test('every declared difference says what both do, and what shows it', () => {
  const ids = declared().map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'an id stands once');
  for (const { id, about, artillery, sonagi, kind, shown_by = [], tests = [] } of declared()) {
    for (const text of [about, artillery, sonagi]) assert.ok(text?.length > 0, `${id}: what`);
    assert.ok(['better', 'other', 'missing'].includes(kind), `${id}: ${kind}`);
    assert.ok(shown_by.length + tests.length > 0, `${id}: nothing shows it`);
    for (const { script, aspects } of shown_by) assert.ok((script === '*' || names.has(script)) && aspects.length > 0, `${id}: ${script}`);
    for (const named of tests) shown(id, named);
  }
});

/** `path::name`: the file has a test of that name. */
function shown(id, named) {
  const [path, name] = named.split('::');
  const file = new URL(path, ROOT);
  assert.ok(existsSync(file), `${id}: ${path}`);
  const text = readFileSync(file, 'utf8');
  assert.ok(text.includes(`fn ${name}(`) || text.includes(`'${name}'`), `${id}: ${named}`);
}

test('the guide has the list as it is', () => {
  const { is, should } = guide();
  assert.equal(is, should, 'node differential/artillery/document.mjs writes it anew');
});

test('there are more than forty scripts, a few of them quick', () => {
  const quick = cases().filter((one) => one.quick);
  assert.ok(names.size > 40 && quick.length > 5 && quick.length < 20, `${names.size}, ${quick.length}`);
});
