// What counts as a difference and what does not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { said } from '../lib/cases.mjs';
import { differences, judge, onlyIn } from '../lib/compare.mjs';
import { multipart } from '../lib/multipart.mjs';
import { figures, spoken, story } from '../lib/story.mjs';

const url = 'http://127.0.0.1:4000';
const entry = (user, path, more = {}) => ({ user, kind: 'http', method: 'GET', path, headers: {}, ...more });
const told = (log, settings = {}) => story(log, { url, ...settings });
const run = (log, more = {}) => ({ code: 0, said: [], figures: figures({}), ...told(log), ...more });

test('users may come in any order, their steps may not', () => {
  const a = run([entry('1', '/a'), entry('2', '/c'), entry('1', '/b')]);
  const b = run([entry('9', '/c'), entry('8', '/a'), entry('8', '/b')]);
  assert.deepEqual(differences(a, b), []);
  const turned = run([entry('9', '/c'), entry('8', '/b'), entry('8', '/a')]);
  assert.deepEqual(differences(a, turned).map(({ aspect }) => aspect), ['requests']);
  const any = { anyOrder: true };
  const parallel = (paths) => told(paths.map((path) => entry('1', path)), any).users;
  assert.deepEqual(parallel(['/a', '/b']), parallel(['/b', '/a']));
});

test('ports, ids and boundaries do not count, but which id it is does', () => {
  const id = (n) => `${String(n).repeat(8)}-1111-4111-8111-111111111111`;
  const log = (a, b, at) => [entry('1', `/x/${a}/${b}`, { text: `http://${at}/`, headers: { host: at, 'content-type': `multipart/form-data; boundary=${a}` } })];
  const one = story(log(id(1), id(1), '127.0.0.1:1'), { url: 'http://127.0.0.1:1' }).users;
  const two = story(log(id(2), id(2), '127.0.0.1:2'), { url: 'http://127.0.0.1:2' }).users;
  const three = story(log(id(2), id(3), '127.0.0.1:2'), { url: 'http://127.0.0.1:2' }).users;
  assert.deepEqual(one, two);
  assert.notDeepEqual(one, three);
});

test('a mask hides what is random and keeps its shape', () => {
  const masks = [/(?<=n=)[1-9]\b/g];
  const path = (text) => told([entry('1', text)], { masks }).users;
  assert.deepEqual(path('/r?n=3'), path('/r?n=8'));
  assert.notDeepEqual(path('/r?n=3'), path('/r?n=30'));
});

test('headers that a tool chooses are compared once for the run, all others with their request', () => {
  const agent = (name) => run([entry('1', '/a', { headers: { 'user-agent': name, host: name } }), entry('1', '/a', { headers: { 'user-agent': name } })]);
  assert.deepEqual(differences(agent('a'), agent('b')), [{ aspect: 'header user-agent', artillery: ['a'], sonagi: ['b'] }]);
  const token = (value) => run([entry('1', '/a', { headers: { authorization: value } })]);
  assert.deepEqual(differences(token('a'), token('b')).map(({ aspect }) => aspect), ['requests']);
});

test('exit codes, what is said, counters and the names of what is timed are compared', () => {
  const a = run([], { code: 0, said: ['SAID a'], figures: figures({ counters: { x: 1 }, summaries: { s: { count: 2, min: 1 } }, rates: { r: 7 } }) });
  const b = run([], { code: 1, said: ['SAID b'], figures: figures({ counters: { x: 2, y: 1 }, summaries: { s: { count: 2, min: 9 } }, rates: { r: 8 } }) });
  assert.deepEqual(differences(a, b).map(({ aspect }) => aspect), ['exit', 'said', 'counter x', 'counter y']);
  assert.deepEqual(spoken('noise\nuser 0: SAID b\nSAID a\n'), ['SAID a', 'SAID b']);
});

test('what only one has is told as often as it is missing', () => {
  assert.deepEqual(onlyIn(['a', 'a', 'b'], ['a', 'c']), [['a', 'b'], ['c']]);
});

test('a declared difference stands for its aspects of its script and for nothing else', () => {
  const rows = [{ id: 'one', shown_by: [{ script: 'x', aspects: ['requests', 'counter errors.*'] }] }];
  const found = ['requests', 'exit', 'counter errors.E', 'counter error'].map((aspect) => ({ aspect }));
  assert.deepEqual(judge('x', found, rows).open.map(({ aspect }) => aspect), ['exit', 'counter error']);
  assert.equal(judge('y', found, rows).open.length, 4);
});

test('a case says in its first comments what it shows and how it is run', () => {
  const lines = ['# Shows it', '# flags: -e load --variables \'{"a":"b c"}\'', '# mask: a{2,}', '# order: any', '# quick', 'config:', '# flags: no'];
  const { shows, flags, masks, anyOrder, quick } = said(lines);
  assert.deepEqual({ shows, flags, anyOrder, quick }, { shows: 'Shows it', flags: ['-e', 'load', '--variables', '{"a":"b c"}'], anyOrder: true, quick: true });
  assert.deepEqual(masks, [/a{2,}/g]);
  assert.throws(() => said(['# Shows it', '# flgs: x']), /means nothing/);
});

test('the parts of a form are read by their boundary', () => {
  const body = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name="f"; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nline\r\n\r\n--b--\r\n';
  assert.deepEqual(multipart(Buffer.from(body), 'b'), [
    { name: 'a', filename: undefined, type: undefined, body: '1' },
    { name: 'f', filename: 'x.txt', type: 'text/plain', body: 'line\r\n' },
  ]);
});
