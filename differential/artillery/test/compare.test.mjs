// What counts as a difference and what does not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { judge, nowhere, onlyIn, settled } from '../../lib/judge.mjs';
import { multipart } from '../../lib/multipart.mjs';
import { said } from '../lib/cases.mjs';
import { apart, differences } from '../lib/compare.mjs';
import { figures } from '../lib/figures.mjs';
import { sum } from '../lib/kept.mjs';
import { spoken, story } from '../lib/story.mjs';

const url = 'http://127.0.0.1:4000';
const entry = (user, path, more = {}) => ({ user, kind: 'http', method: 'GET', path, headers: {}, ...more });
const aspects = (a, b) => differences(a, b).map(({ aspect }) => aspect);
const told = (log, settings = {}) => story(log, { url, ...settings });
const run = (log, more = {}) => ({ code: 0, said: [], figures: figures(), ...told(log), ...more });

test('users may come in any order, their steps may not', () => {
  const a = run([entry('1', '/a'), entry('2', '/c'), entry('1', '/b')]);
  const b = run([entry('9', '/c'), entry('8', '/a'), entry('8', '/b')]);
  assert.deepEqual(differences(a, b), []);
  const turned = run([entry('9', '/c'), entry('8', '/b'), entry('8', '/a')]);
  assert.deepEqual(aspects(a, turned), ['requests']);
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

test('what a tool says of itself is compared once for the run, what a script has it say with the request', () => {
  const asked = (headers) => run([entry('1', '/a', { headers }), entry('1', '/b', { headers })]);
  const agents = (a, b) => differences(asked({ 'user-agent': a }), asked({ 'user-agent': b }));
  const [artillery, sonagi] = ['Artillery (https://artillery.io)', 'Sonagi/0.4.1'];
  assert.deepEqual(agents(artillery, sonagi), [{ aspect: 'header user-agent', peer: [artillery], sonagi: ['Sonagi/VERSION'] }]);
  assert.deepEqual(agents('Sonagi/0.4.2', sonagi), []);
  assert.deepEqual(aspects(asked({ accept: 'text/html' }), asked({ accept: '*/*' })), ['requests', 'header accept']);
  assert.deepEqual(aspects(asked({ 'accept-encoding': 'gzip' }), asked({ 'accept-encoding': 'br' })), ['requests']);
  assert.deepEqual(aspects(asked({ accept: '*/*' }), asked({})), ['header accept']);
  assert.deepEqual(aspects(asked({ authorization: 'a' }), asked({ authorization: 'b' })), ['requests']);
});

test('one request that does not say who asks or what it unpacks is seen among others that do', () => {
  const own = { 'user-agent': 'Sonagi/0.4.1', 'accept-encoding': 'gzip, deflate, br' };
  const all = run([entry('1', '/a', { headers: own }), entry('1', '/b', { headers: own })]);
  for (const name of Object.keys(own)) {
    const { [name]: _, ...rest } = own;
    assert.deepEqual(aspects(all, run([entry('1', '/a', { headers: own }), entry('1', '/b', { headers: rest })])), ['requests'], name);
  }
  const socket = (headers) => run([{ user: '1', kind: 'ws open', path: '/', headers }]);
  assert.deepEqual(aspects(socket(own), socket({})), ['header accept-encoding', 'header user-agent']);
});

test('the host is the target or what the script says', () => {
  const asked = (host) => run([entry('1', '/a', { headers: { host } })]);
  assert.deepEqual(aspects(asked('127.0.0.1:4000'), run([entry('1', '/a')])), []);
  assert.deepEqual(aspects(asked('127.0.0.1:4000'), asked('other.test')), ['requests']);
});

const report = (aggregate, intermediate = [aggregate]) => run([entry('1', '/a')], { figures: figures({ aggregate, intermediate }) });

test('exit codes, what is said and counters are compared', () => {
  const a = { ...report({ counters: { x: 1 } }), said: ['SAID a'] };
  const b = { ...report({ counters: { x: 2, y: 1 } }), code: 1, said: ['SAID b'] };
  assert.deepEqual(aspects(a, b), ['exit', 'said', 'counter x', 'counter y']);
  assert.deepEqual(spoken('noise\nuser 0: SAID b\nSAID a\n'), ['SAID a', 'SAID b']);
});

test('times differ when they are of another unit or another thing, not when one machine was busier', () => {
  const timed = (min, median, count = 3) => report({ summaries: { s: { count, min, median, max: 9999 } } });
  assert.deepEqual(aspects(timed(200, 203), timed(201, 250)), []);
  assert.deepEqual(aspects(timed(900, 900), timed(0.9, 0.9)), ['times s']);
  const evenly = { evenly: true };
  assert.deepEqual(differences(timed(900, 940), timed(900, 90), evenly).map(({ aspect }) => aspect), ['times s']);
  assert.deepEqual(differences(timed(900, 940), timed(900, 90)), []);
  assert.deepEqual(aspects(timed(5000, 5000), timed(7000, 7000)), []);
  assert.deepEqual(aspects(timed(5, 5), timed(5, 5, 4)), ['summary s']);
});

test('rates are per second, as far as two ways to round and to average can agree, of what comes evenly', () => {
  const rated = (r) => report({ rates: { r } });
  const found = (a, b) => differences(a, b, { evenly: true }).map(({ aspect }) => aspect);
  assert.deepEqual(found(rated(6), rated(3.2)), []);
  assert.deepEqual(found(rated(0), rated(0.4)), []);
  assert.deepEqual(found(rated(6), rated(2.5)), ['rate r']);
  assert.deepEqual(aspects(rated(6), rated(2.5)), []);
  assert.deepEqual(aspects(rated(6), report({ rates: {} })), ['rate r']);
});

test('what may be the machine’s doing is tried again, and differs when it does so thrice', async () => {
  const tried = async (...attempts) => {
    const again = [];
    const { open } = await settled(/^(times|rate) /, async (is) => (again.push(is), { open: seen(...attempts.shift().map((aspect) => [aspect])) }));
    return [open.map(({ aspect }) => aspect), again];
  };
  assert.deepEqual(await tried(['times s', 'exit'], ['rate r'], []), [[], [false, true, true]]);
  assert.deepEqual(await tried(['times s'], ['times s'], ['times s', 'exit'], []), [['times s', 'exit'], [false, true, true]]);
  assert.deepEqual(await tried(['exit', 'summary s'], []), [['exit', 'summary s'], [false]]);
});

test('a report has the members of the other, in its periods too, which add up to the whole', () => {
  const whole = (more) => ({ counters: { x: 3 }, summaries: { s: { count: 1, p50: 1 } }, ...more });
  const one = report(whole(), [{ counters: { x: 1 } }, { counters: { x: 2 }, 'http.request_rate': null }]);
  assert.deepEqual(aspects(one, report(whole(), [{ counters: { x: 3 } }])), []);
  assert.deepEqual(aspects(one, report(whole(), [{ counters: { x: 1 } }])), ['report sums']);
  assert.deepEqual(aspects(one, report(whole(), [{ counters: { x: 3, y: 1 } }])), ['report sums']);
  assert.deepEqual(aspects(one, report(whole(), [{ counters: { x: 3 }, period: '0' }])), ['report period']);
  assert.deepEqual(aspects(one, report(whole({ lastCounterAt: 1 }), [{ counters: { x: 3 } }])), ['report aggregate']);
  assert.deepEqual(aspects(one, report(whole({ summaries: { s: { count: 1 } } }), [{ counters: { x: 3 } }])), ['report summary']);
});

test('what only one has is told as often as it is missing', () => {
  assert.deepEqual(onlyIn(['a', 'a', 'b'], ['a', 'c']), [['a', 'b'], ['c']]);
});

const row = (id, script, ...aspects) => ({ id, shown_by: [{ script, aspects }] });
const seen = (...all) => all.map(([aspect, peer, sonagi]) => ({ aspect, peer, sonagi }));
const open = (judged) => judged.open.map(({ aspect }) => aspect);

test('a declared difference stands for its aspects of its script and for nothing else', () => {
  const rows = [row('one', 'x', 'requests', 'counter errors.*')];
  const found = seen(['requests'], ['exit'], ['counter errors.E'], ['counter error']);
  assert.deepEqual(open(judge('x', found, rows)), ['exit', 'counter error']);
  assert.equal(judge('y', found, rows).open.length, 4);
});

test('a difference declared with its values stands for those only', () => {
  const rows = [row('one', 'x', 'exit: 0 → 1', 'counter errors.code: 403: absent → 2')];
  assert.deepEqual(open(judge('x', seen(['exit', 0, 1], ['counter errors.code: 403', undefined, 2]), rows)), []);
  assert.deepEqual(open(judge('x', seen(['exit', 0, 4], ['counter errors.code: 403', 0, 2]), rows)), ['exit', 'counter errors.code: 403']);
  assert.deepEqual(open(judge('x', seen(['exit', 'SIGKILL', 0]), [row('one', 'x', 'exit: SIGKILL → 0')])), []);
});

test('everything is declared only where the runs cannot be compared, and never the exit code', () => {
  const found = seen(['requests'], ['exit', 0, 2], ['counter x']);
  const rows = [row('one', 'x', 'everything')];
  assert.deepEqual(open(judge('x', found, rows, true)), ['exit']);
  assert.equal(judge('x', found, rows, false).open.length, 3);
  const [sent, nothing, ended] = [run([entry('1', '/a')]), run([]), run([entry('1', '/a')], { code: 'SIGKILL' })];
  assert.deepEqual([apart(sent, nothing), apart(nothing, sent), apart(ended, sent), apart(sent, sent), apart(nothing, nothing)], [true, true, true, false, false]);
});

test('each aspect of each script is to be seen', () => {
  const rows = [row('one', 'x', 'requests', 'exit: 0 → 1'), row('two', 'y', 'requests'), row('all', '*', 'header accept', 'rate r')];
  const judged = judge('x', seen(['requests'], ['header accept']), rows);
  assert.deepEqual(judged.stale.map(({ row, aspect }) => [row.id, aspect]), [['one', 'exit: 0 → 1']]);
  assert.deepEqual(nowhere([judged], rows).map(({ row, aspect }) => [row.id, aspect]), [['all', 'rate r']]);
});

test('what Artillery did is kept until a file changes that decides it', () => {
  const changed = (file, name = 'functions') => sum({ name }, (path) => (path.endsWith(file) ? 'changed' : 'as it was'));
  const as = changed('nothing');
  for (const file of ['/functions.yml', '/functions.cjs', '/files/people.csv', '/tools.mjs', '/target.mjs', '/multipart.mjs', '/process.mjs']) assert.notEqual(changed(file), as, file);
  assert.equal(changed('/cookies.yml'), as);
  assert.equal(changed('/functions.cjs', 'verbs'), changed('nothing', 'verbs'));
});

test('a case says in its first comments what it shows and how it is run', () => {
  const lines = ['# Shows it', '# flags: -e load --variables \'{"a":"b c"}\'', '# mask: a{2,}', '# order: any', '# quick', 'config:', '# flags: no'];
  const { shows, files, flags, masks, anyOrder, evenly, quick } = said(['# Shows it', '# files: a.yml files/b.yml', '# evenly', ...lines.slice(1)]);
  assert.deepEqual({ shows, files, flags, anyOrder, evenly, quick }, { evenly: true, shows: 'Shows it', files: ['a.yml', 'files/b.yml'], flags: ['-e', 'load', '--variables', '{"a":"b c"}'], anyOrder: true, quick: true });
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
