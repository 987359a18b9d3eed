// The list of differences, its evidence, and the guide that is made of it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { proof } from '../../lib/proof.mjs';
import { cases } from '../lib/cases.mjs';
import { declared, wrong } from '../lib/declared.mjs';
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

test('a test proves a difference by what it says, and not by what stands beside it', () => {
  const plugins = 'crates/artillery/tests/it/plugins.rs::what_does_not_run_here_is_told_once_and_stops_nothing';
  assert.equal(unproven(`${plugins}::the plugin kafka: no effect`), undefined);
  for (const of of [plugins, `${plugins}::groupDynamicURLs: false has no effect`, 'crates/none.rs::x::y', 'crates/artillery/tests/it/plugins.rs::nothing::kafka']) assert.equal(unproven(of), of);
  const source = 'const N: u8 = 1;\n  #[test]\n  pub(crate) async fn one() {\n    check(&LONG, N);\n  }\n  fn two() { 2 }\nconst LONG: [u8; 1] = [\n  "three",\n];\nconst OTHER: u8 = 4;\n';
  assert.equal(proof(source, 'one'), '  pub(crate) async fn one() {\n    check(&LONG, N);\n  }\nconst LONG: [u8; 1] = [\n  "three",\n];\nconst N: u8 = 1;');
});

test('no difference is declared wider than it is, nor twice', () => {
  const claims = declared().flatMap(({ id, shown_by = [] }) => shown_by.flatMap(({ script, aspects }) => aspects.map((aspect) => ({ id, script, aspect }))));
  for (const { id, script, aspect } of claims) assert.equal(wrong(aspect), undefined, `${id}: ${aspect} of ${script}`);
  const texts = claims.map(({ script, aspect }) => `${aspect} of ${script}`);
  assert.deepEqual(texts.filter((text, at) => texts.indexOf(text) < at), []);
  for (const wide of ['counter *', 'summary http*', 'exit', 'report', 'anything', 'everything: 1 → 2', 'counter *.errors.*']) assert.ok(wrong(wide), wide);
  for (const fair of ['exit: 0 → 1', 'requests', 'everything', 'counter errors.*', 'counter errors.Unexpected server response: 403: 4 → absent', 'times http.response_time']) assert.equal(wrong(fair), undefined, fair);
});

test('the guide has the list as it is', () => {
  const { is, should } = guide();
  assert.ok(is === should, 'node differential/artillery/document.mjs writes it anew');
});

test('there are more than forty scripts, a few of them quick', () => {
  const quick = cases().filter((one) => one.quick);
  assert.ok(names.size > 40 && quick.length > 5 && quick.length < 20, `${names.size}, ${quick.length}`);
});
