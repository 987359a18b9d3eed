// What counts as a difference and what does not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { said } from '../lib/cases.mjs';
import { apart, asLong, differences } from '../lib/compare.mjs';
import { figureless, lines, record } from '../lib/lines.mjs';
import { points } from '../lib/points.mjs';
import { left, summary } from '../lib/summary.mjs';
import { told } from '../lib/told.mjs';
import { sum } from '../lib/tools.mjs';

const hosts = { TARGET: '127.0.0.1:4000', SCRIPTS: '/tmp/one/scripts' };
const http = (connection, path, more = {}) => ({ connection, kind: 'http', version: '1.1', method: 'GET', path, headers: { Host: ['127.0.0.1:4000'], 'User-Agent': ['Grafana k6/2.2.0'] }, ...more });
const raw = (more = {}) => ({ code: 0, stdout: '', stderr: '', lasted_ms: 500, log: [], hosts, summary: null, points: null, left: {}, ...more });
const run = (more, one = {}) => told(raw(more), { masks: [], order: 'strict', ...one });
const aspects = (a, b, one) => differences(run(a, one), run(b, one), one).map(({ aspect }) => aspect);

test('a run does not differ from itself, wherever its target listened', () => {
  const elsewhere = JSON.parse(JSON.stringify({ log: [http(1, '/a')], hosts }).replaceAll('4000', '5000'));
  assert.deepEqual(aspects({ log: [http(1, '/a')] }, elsewhere), []);
  assert.deepEqual(aspects({ log: [http(1, '/a?at=127.0.0.1%3A4000')] }, { log: [http(1, '/a?at=127.0.0.1%3A5000')], hosts: { ...hosts, TARGET: '127.0.0.1:5000' } }), ['requests']);
});

test('requests are compared with their headers, their bodies and the connection they came by', () => {
  const a = { log: [http(1, '/a'), http(1, '/b')] };
  assert.deepEqual(aspects(a, { log: [http(1, '/b'), http(1, '/a')] }), ['requests']);
  assert.deepEqual(aspects(a, { log: [http(1, '/a'), http(2, '/b')] }), ['requests']);
  assert.deepEqual(aspects(a, { log: [http(7, '/a'), http(7, '/b', { body: 'x' })] }), ['requests']);
  const without = http(1, '/a');
  delete without.headers['User-Agent'];
  assert.deepEqual(aspects({ log: [http(1, '/a')] }, { log: [without] }), ['requests', 'spelling', 'agents']);
  assert.deepEqual(aspects({ log: [http(1, '/a')] }, { log: [http(1, '/a', { headers: { host: ['127.0.0.1:4000'], 'User-Agent': ['Grafana k6/2.2.0'] } })] }), ['spelling']);
});

test('what a tool says of itself is an aspect of its own, what a script has it say belongs to the request', () => {
  const as = (agent) => ({ log: [http(1, '/a', { headers: { Host: ['127.0.0.1:4000'], 'User-Agent': [agent] } })] });
  assert.deepEqual(aspects(as('Grafana k6/2.2.0'), as('Sonagi/0.1.0')), ['agents']);
  assert.deepEqual(aspects(as('mine'), as('other')), ['requests']);
});

test('users have no order among each other where the case says so', () => {
  const [a, b] = [{ log: [http(1, '/a'), http(2, '/b')] }, { log: [http(1, '/b'), http(2, '/a')] }];
  assert.deepEqual(aspects(a, b), ['requests']);
  assert.deepEqual(aspects(a, b, { order: 'connections' }), []);
  const one = { log: [http(1, '/b'), http(1, '/a')] };
  assert.deepEqual(aspects(a, one, { order: 'connections' }), ['requests']);
  assert.deepEqual(aspects(a, one, { order: 'any' }), []);
});

const line = (level, text, more = '') => `time="2026-01-01T00:00:00Z" level=${level} msg=${JSON.stringify(text)}${more}\n`;

test('lines of the console are compared in their order, and with their level', () => {
  const console_ = (level, ...all) => ({ stderr: all.map((text) => line(level, text, ' source=console')).join('') });
  assert.deepEqual(aspects(console_('info', 'a', 'b'), console_('info', 'b', 'a')), ['console']);
  assert.deepEqual(aspects(console_('info', 'a', 'b'), console_('info', 'b', 'a'), { order: 'connections' }), []);
  assert.deepEqual(aspects(console_('info', 'a'), console_('warning', 'a')), ['console']);
});

test('of exceptions the first line and what it is said to be are compared, of other lines how many there are', () => {
  const thrown = (text, more = ' scenario=default source=stacktrace') => ({ stderr: line('error', text, more) });
  assert.deepEqual(aspects(thrown('Error: a\n\tat x:1:2(3)\n'), thrown('Error: a\n\tat y:9:9\n')), []);
  assert.deepEqual(aspects(thrown('Error: a'), thrown('Error: b')), ['thrown']);
  assert.deepEqual(aspects(thrown('Error: a'), thrown('Error: a', ' scenario=other source=stacktrace')), ['thrown']);
  assert.deepEqual(aspects({ stderr: line('warning', 'so') }, { stderr: line('warning', 'otherwise') }), []);
  assert.deepEqual(aspects({ stderr: line('warning', 'so') }, { stderr: '' }), ['log warning']);
  assert.deepEqual(aspects({ stderr: line('error', 'no such option') }, { stderr: 'error: a: must be a number\n  b: must be given\n' }), []);
  assert.deepEqual(aspects({ stderr: line('error', 'no such option') }, { stderr: 'a: must be a number\n' }), ['log error']);
  assert.deepEqual(record('time="x" level=error msg="a \\"b\\" \\x1b" hint="script exception" source=stacktrace'), { time: 'x', level: 'error', msg: 'a "b" \u001b', hint: 'script exception', source: 'stacktrace' });
});

test('figures of the summary are masked by what they are', () => {
  const check = (text, expected) => assert.equal(figureless(text), expected);
  check('    http_req_duration..........: avg=1.2ms min=500.1µs med=781ns max=1m3s p(90)=0s p(95)=2s', '    http_req_duration..........: avg=#t min=#t med=#t max=#t p(90)=#t p(95)=#t');
  check('    checks_succeeded...: 50.00% 3 out of 6', '    checks_succeeded...: #% # out of #');
  check('    data_sent..........: 1.2 kB 3.4 kB/s', '    data_sent..........: #B #B/s');
  check("    ✗ 'rate>0.5' rate=50.00%", "    ✗ 'rate>0.5' rate=#%");
  check('      ↳  0% — ✓ 0 / ✗ 3', '      ↳  0% — ✓ 0 / ✗ 3');
  check('    ✓ status is 200', '    ✓ status is 200');
});

test('the plan, how scenarios ended and the text behind them are told apart', () => {
  const stdout = '     scenarios: (100.00%) 1 scenario, 1 max VUs\n              * default: 3 iterations\n\n  █ TOTAL RESULTS\n    iterations...: 3 1.2/s\n\nrunning (00m00.3s), 0/1 VUs, 3 complete and 0 interrupted iterations\ndefault ✓ [ 100% ] 1 VUs  00m00.3s/10m0s  3/3 shared iters\n';
  const { plan, ended, text } = lines(stdout, '', false);
  assert.deepEqual(plan, ['scenarios: (100.00%) 1 scenario, 1 max VUs', '* default: 3 iterations']);
  assert.deepEqual(ended, ['running (#), # VUs, 3 complete and 0 interrupted iterations', 'default ✓ 1 VUs #t/#t 3/3 shared iters']);
  assert.deepEqual(text, ['  █ TOTAL RESULTS', '    iterations...: # #/s']);
});

test('of a summary counts and values of the script are compared, of times which there are', () => {
  const of = (metrics) => summary({ metrics });
  assert.deepEqual(of({ http_reqs: { count: 3, rate: 1.7 }, http_req_duration: { avg: 1.2, 'p(95)': 3 } }), { http_reqs: { count: 3, rate: '#' }, http_req_duration: { avg: '#', 'p(95)': '#' }, members: ['metrics'] });
  assert.deepEqual(of({ own: { avg: 1.5, thresholds: { 'avg<1': true } } }).own, { avg: 1.5, thresholds: { 'avg<1': true } });
  assert.deepEqual(of({ checks: { passes: 1, fails: 2, value: 0.3333333333333333 } }).checks, { fails: 2, passes: 1, value: 0.333333333 });
  const group = (checks) => summary({ root_group: { name: '', groups: {}, checks } }).root_group.checks;
  const one = { name: 'one', passes: 1, fails: 0 };
  assert.deepEqual(group({ b: { ...one, name: 'b' }, one }), group({ one, b: { ...one, name: 'b' } }));
  assert.notDeepEqual(group({ one }), group({ one: { ...one, fails: 1 } }));
});

test('samples are compared by their tags, as often as they come, with the values of the script', () => {
  const point = (metric, value, tags, more = {}) => JSON.stringify({ metric, type: 'Point', data: { time: '2026-01-01T00:00:00.1Z', value, tags, ...more } });
  const told = (...all) => JSON.stringify(points(all.join('\n')));
  assert.equal(told(point('own', 2, { a: 'b', c: 'd' }), point('own', 1, { a: 'b', c: 'd' })), told(point('own', 1, { c: 'd', a: 'b' }), point('own', 2, { c: 'd', a: 'b' })));
  assert.notEqual(told(point('own', 1, {})), told(point('own', 2, {})));
  const metric = (...submetrics) => JSON.stringify({ type: 'Metric', metric: 'own', data: { name: 'own', type: 'counter', submetrics: submetrics.map((name) => ({ name, suffix: name, tags: {} })) } });
  assert.equal(told(metric('own{a:b}', 'own{c:d}')), told(metric('own{c:d}', 'own{a:b}')));
  assert.notEqual(told(metric('own{a:b}')), told(metric('own{c:d}')));
  assert.equal(told(point('http_req_waiting', 1, {})), told(point('http_req_waiting', 2, {})));
  assert.notEqual(told(point('http_req_waiting', 1, {})), told(point('http_req_waiting', 1, { a: 'b' })));
  assert.equal(told(point('data_sent', 1, {})), told(point('data_sent', 2, {}), point('data_sent', 2, {})));
  assert.notEqual(told(point('own', 1, {})), told(point('own', 1, {}, { metadata: { vu: '1' } })));
  assert.notEqual(told(point('own', 1, {})), told(JSON.stringify({ metric: 'own', type: 'Point', data: { time: 'now', value: 1, tags: {} } })));
});

test('how long a test ran is compared within limits, by every figure that says it', () => {
  const ran = (seconds) => ({
    summary: JSON.stringify({ metrics: { http_reqs: { count: 3, rate: 3 / seconds }, data_sent: { count: 10, rate: 10 / seconds } } }),
    stdout: `running (0m0${seconds}s), 0/1 VUs, 1 complete and 0 interrupted iterations\n`,
    left: { 'data.json': JSON.stringify({ testRunDurationMs: seconds * 1000 }) },
  });
  assert.deepEqual(aspects(ran(2.3), ran(2.8)), []);
  assert.deepEqual(aspects(ran(2.3), ran(1.3)), ['rate http_reqs', 'duration running', 'duration data.json']);
});

test('users are compared as they were counted in runs of more than a second', () => {
  const of = (name, values) => values.map((value) => JSON.stringify({ metric: name, type: 'Point', data: { time: '2026-01-01T00:00:00.1Z', value, tags: {} } })).join('\n');
  const counted = (values, gauge = {}) => ({ points: of('vus', values), lasted_ms: 5000, summary: JSON.stringify({ metrics: { vus: gauge } }) });
  assert.deepEqual(aspects(counted([0, 0, 3, 3, 0]), counted([0, 3, 3, 0])), []);
  assert.deepEqual(aspects(counted([0, 3, 3]), counted([0, 3, 3, 0])), ['users vus']);
  assert.deepEqual(aspects(counted([0, 3, 3]), counted([3, 3])), ['users vus']);
  assert.deepEqual(aspects(counted([3, 3]), counted([3, 3, 3, 3])), ['users vus']);
  assert.deepEqual(aspects(counted([3], { value: 3, min: 3, max: 3 }), counted([3], { value: 3, min: 0, max: 3 })), ['users vus']);
});

test('files that a run leaves are compared by their kind', () => {
  assert.deepEqual(left('a.csv', 'metric_name,timestamp,metric_value,extra_tags\nown,1,2.5,b=1&a=2\nhttp_req_waiting,1,7,\nvus,1,1,\n'), { head: 'metric_name,timestamp,metric_value,extra_tags', rows: { 'http_req_waiting,#,#,': 1, 'own,#,2.5,a=2&b=1': 1 } });
  assert.deepEqual(left('a.json', '{"b":[2,"x"],"a":null}'), { a: null, b: ['#', 'x'] });
  assert.equal(left('a.txt', 'words'), 'words');
});

test('runs last as long as each other within what a busy machine may add', () => {
  assert.deepEqual([asLong(300, 1700), asLong(300, 2000), asLong(10_000, 14_000), asLong(10_000, 16_000)], [true, false, true, false]);
});

test('gauges of users are compared only where both runs last long enough to have them', () => {
  const of = (lasted_ms, metrics) => ({ lasted_ms, summary: JSON.stringify({ metrics }) });
  const vus = { vus: { value: 1, min: 1, max: 1 } };
  assert.deepEqual(aspects(of(900, {}), of(1100, vus)), []);
  assert.deepEqual(aspects(of(2900, {}), of(3100, vus)), ['summary vus']);
});

test('an aspect in which k6 differs from itself is left out, and no other', () => {
  const [a, b] = [{ code: 0, log: [http(1, '/a')] }, { code: 1, log: [] }];
  assert.deepEqual(aspects(a, b), ['exit', 'requests', 'spelling', 'agents']);
  assert.deepEqual(aspects(a, b, { without: ['exit', 'spell*'] }), ['requests', 'agents']);
});

test('runs are apart when one of them did nothing or had to be ended', () => {
  const [some, none] = [run({ log: [http(1, '/a')] }), run({})];
  assert.deepEqual([apart(some, none), apart(some, some), apart(none, none), apart(some, run({ log: [http(1, '/a')], code: 'SIGKILL' }))], [true, false, false, true]);
});

test('a case says in its first comments what it shows and how it is run', () => {
  const found = said(['// Shows it', "// flags: --vus 2 --tag 'a=b c'", '// env: A=b=c', '// target: httpbin', '// order: any', '// input', '// signal: SIGINT 300', '// leaves: a.csv', '// mask: x+', '// without points iter*: chance', '// patience: 9', '// quick', 'code', '// flags: no']);
  assert.deepEqual({ ...found, masks: found.masks.map(String) }, { shows: 'Shows it', flags: ['--vus', '2', '--tag', 'a=b c'], env: { A: 'b=c' }, target: 'httpbin', order: 'any', input: true, signal: { name: 'SIGINT', after_ms: 300 }, leaves: ['a.csv'], masks: ['/x+/g'], without: ['points iter*'], patience: 9, quick: true });
  assert.throws(() => said(['// Shows it', '// flgs: x']), /means nothing/);
  assert.throws(() => said(['// Shows it', '// without exit']), /does not say why/);
  assert.throws(() => said(['// Shows it', '// target: mars']), /may say/);
});

test('what k6 did is kept until a file changes that decides it', () => {
  const of = (path, changed) => sum({ path }, (file) => (file.endsWith(changed) ? 'changed' : 'as it was'));
  const as = of('modules/esm.js', 'nothing');
  for (const file of ['/modules/esm.js', '/_files/lib/one.js', '/tools.mjs', '/target.mjs', '/routes.mjs', '/sockets.mjs']) assert.notEqual(of('modules/esm.js', file), as, file);
  assert.equal(of('modules/esm.js', '/modules/open.js'), as);
});
