// The list of differences, its evidence, and the guide that is made of it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { proof } from '../../lib/proof.mjs';
import { cases } from '../lib/cases.mjs';
import { ASPECTS } from '../lib/compare.mjs';
import { declared, wrong } from '../lib/declared.mjs';
import { guide } from '../lib/guide.mjs';
import { missing } from '../lib/types.mjs';

const ROOT = new URL('../../../', import.meta.url);
const all = cases();
const names = new Set(all.map(({ name }) => name));

test('every declared difference says what both do, and what shows it', () => {
  const ids = declared().map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'an id stands once');
  for (const { id, about, k6, sonagi, kind, shown_by = [], tests = [] } of declared()) {
    for (const text of [about, k6, sonagi]) assert.ok(text?.length > 0, `${id}: what`);
    assert.ok(['better', 'other', 'missing'].includes(kind), `${id}: ${kind}`);
    assert.ok(shown_by.length + tests.length > 0, `${id}: nothing shows it`);
    for (const { script, aspects } of shown_by) assert.ok((script === '*' || names.has(script)) && aspects.length > 0, `${id}: ${script}`);
    for (const named of tests) assert.equal(unproven(named), undefined, id);
  }
});

/** Why `path::name::words` proves nothing: the file has no such test, or the test does not say it. */
function unproven(named) {
  const [path, name, ...words] = named.split('::');
  const file = new URL(path, ROOT);
  const text = existsSync(file) ? proof(readFileSync(file, 'utf8'), name) : undefined;
  return words.length > 0 && text?.includes(words.join('::')) ? undefined : named;
}

test('no difference is declared wider than it is, nor twice', () => {
  const claims = declared().flatMap(({ id, shown_by = [] }) => shown_by.flatMap(({ script, aspects }) => aspects.map((aspect) => ({ id, script, aspect }))));
  for (const { id, script, aspect } of claims) assert.equal(wrong(aspect), undefined, `${id}: ${aspect} of ${script}`);
  const texts = claims.map(({ script, aspect }) => `${aspect} of ${script}`);
  assert.deepEqual(texts.filter((text, at) => texts.indexOf(text) < at), []);
  for (const wide of ['summary *', 'exit', 'points', 'anything', 'everything: 1 → 2']) assert.ok(wrong(wide), wide);
  for (const fair of ['exit: 109 → 107', 'requests', 'everything', 'log warning', 'points http_reqs', 'lasted']) assert.equal(wrong(fair), undefined, fair);
});

test('the guide has the list as it is', () => {
  const { is, should } = guide();
  assert.ok(is === should, 'node differential/k6/document.mjs writes it anew');
});

test('there are more than a hundred scripts in groups, and a few quick ones of every group that a gate needs', () => {
  const groups = new Set(all.map(({ name }) => name.split('/')[0]));
  for (const group of ['checks', 'encoding', 'execution', 'executors', 'http', 'httpbin', 'lifecycle', 'metrics', 'modules', 'options', 'output', 'realtime', 'serve', 'summary', 'thresholds', 'throws', 'websockets', 'ws']) assert.ok(groups.has(group), group);
  const quick = all.filter((one) => one.quick);
  assert.ok(names.size > 100 && quick.length >= 20 && quick.length < 60, `${names.size}, ${quick.length}`);
});

test('a script that leaves an aspect out says why', () => {
  for (const { name, without } of all) for (const aspect of without) assert.match(aspect, ASPECTS, name);
});

test('a name is missing when its module has it not', () => {
  const provided = { k6: ['check', 'sleep'], 'k6/http': ['get'] };
  assert.deepEqual(missing(provided, { k6: ['check'], 'k6/http': ['get', 'own'] }), ['k6 sleep']);
  assert.deepEqual(missing(provided, { k6: ['check', 'sleep'] }), ['k6/http get']);
});
