// The EventSource of the specification, as the package eventsource has it, against our event streams.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { EventSource } from 'eventsource';
import { startProxy } from '../support/proxy.mjs';
import { startService } from '../support/service.mjs';
import { Inbox, within } from '../support/wait.mjs';

const ROUNDS = 3;
/** What the service asks for. A client that is asked for nothing waits three seconds. */
const RETRY_MS = 1000;

let service;
let proxy;
const open = [];
before(async () => {
  service = await startService();
  proxy = await startProxy(service.url);
});
after(async () => {
  await proxy?.stop();
  await service?.stop();
});
afterEach(() => {
  proxy.cutAfter(Infinity);
  open.splice(0).forEach((source) => source.close());
});

/**
 * A stream of a group; what it heard, in order: messages and gaps as `{ type, id, data }`. `requests` are the headers it
 * asked with, one for each connection.
 */
function listen(url, group, { query = '', headers, fetch: ask = fetch } = {}) {
  const requests = new Inbox();
  const request = (input, init) => {
    const all = { ...init.headers, ...headers };
    requests.push(all);
    return ask(input, { ...init, headers: all });
  };
  const source = new EventSource(`${url}/location/sse/connect?group=${encodeURIComponent(group)}${query}`, { fetch: request });
  const listener = { source, requests, heard: new Inbox(), opened: new Inbox(), errors: new Inbox() };
  for (const name of ['message', 'gap']) {
    source.addEventListener(name, ({ type, lastEventId, data }) => listener.heard.push({ type, id: lastEventId, data: JSON.parse(data) }));
  }
  source.onopen = () => listener.opened.push(true);
  source.onerror = ({ code, message }) => listener.errors.push({ code, message });
  open.push(source);
  return listener;
}

async function share(group, content, { headers, query = '', body = JSON.stringify(content) } = {}) {
  const answer = await within(10_000, 'the answer to share', () =>
    fetch(`${service.url}/location/sse/share?group=${encodeURIComponent(group)}${query}`, { method: 'POST', body, headers }));
  return { status: answer.status, ...(await answer.json()) };
}

/** The times that clients of this package wait from now on. */
function waits(t) {
  const { mock } = t.mock.method(globalThis, 'setTimeout');
  return () => mock.calls.filter(({ stack }) => stack.stack.includes('/eventsource/')).map(({ arguments: [, ms] }) => ms);
}

const ids = (items) => items.map(({ id }) => Number(id));
const upTo = (count) => Array.from({ length: count }, (_, n) => n + 1);

test('every message is an event of the default type whose id is its number', { timeout: 60_000 }, async () => {
  const group = '소나기 / &';
  const listeners = [listen(service.url, group), listen(service.url, group)];
  for (const { opened } of listeners) await opened.first(1);
  const contents = ['비', 'two\nlines\r\nand 🌧', { lat: 37.5, lng: 127 }, [null, { deep: [''] }], 'x'.repeat(60_000), '\u2028 data: no'];
  for (const [n, content] of contents.entries()) assert.deepEqual(await share(group, content), { status: 200, ok: true, seq: n + 1 });
  // Written over several lines it is the same.
  assert.equal((await share(group, 0, { body: '{\n  "a": 1,\r\n  "b":\n2}\n' })).seq, 7);
  assert.equal((await share(group, 0, { body: '' })).seq, 8);
  for (const { heard } of listeners) {
    const items = await heard.first(8);
    assert.deepEqual(items.map(({ data }) => data.content), [...contents, { a: 1, b: 2 }, {}]);
    assert.deepEqual(ids(items), upTo(8));
    assert.ok(items.every(({ type, id, data }) => type === 'message' && Number(id) === data.seq && data.senderId === 0));
  }
});

test('a client cut off again and again goes on by itself behind the last event it got', { timeout: 60_000 }, async () => {
  const group = 'cut';
  const { source, requests, heard, opened, errors } = listen(proxy.url, group);
  await opened.first(1);
  let sent = 0;
  const say = async (count) => {
    for (let n = 0; n < count; n += 1) assert.equal((await share(group, 'x'.repeat(50 * n))).seq, (sent += 1));
  };
  await say(2);
  await heard.first(2);
  const last = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    last.push(String(sent));
    proxy.cut();
    await errors.first(round);
    await say(round * 2);
    // The last time the new stream breaks off as well, in the midst of what was missed.
    if (round === ROUNDS) proxy.cutAfter(700);
    await requests.first(1 + round);
    if (round < ROUNDS) await heard.first(sent);
  }
  await errors.first(ROUNDS + 1);
  proxy.cutAfter(Infinity);
  await say(1);
  const items = await heard.first(sent);
  assert.deepEqual(ids(items), upTo(sent));
  assert.deepEqual(items.map(({ data }) => data.seq), upTo(sent));
  await share(group, 'the last');
  assert.equal((await heard.first(sent + 1)).length, heard.items.length, 'nothing came twice');
  const asked = requests.items.map((headers) => headers['Last-Event-ID']);
  assert.deepEqual(asked.slice(0, ROUNDS + 1), [undefined, ...last]);
  const again = Number(asked[ROUNDS + 1]);
  assert.ok(again > Number(last.at(-1)) && again < sent, `it went on behind ${again}, in the midst`);
  assert.equal(source.readyState, EventSource.OPEN);
});

test('a client cut off before its first event goes on behind the number its page began with', { timeout: 60_000 }, async () => {
  await share('page', 1);
  const { opened, errors, heard } = listen(proxy.url, 'page', { query: '&after=1' });
  await opened.first(1);
  proxy.cut();
  await errors.first(1);
  await share('page', 2);
  assert.deepEqual(ids(await heard.first(1)), [2]);
});

test('a client waits as long as the service asks before it comes back', { timeout: 60_000 }, async (t) => {
  const { opened, errors, heard } = listen(proxy.url, 'retry');
  await opened.first(1);
  await share('retry', 1);
  await heard.first(1);
  const waited = waits(t);
  proxy.cut();
  await errors.first(1);
  assert.deepEqual(waited(), [RETRY_MS], 'and not its own three seconds');
  await opened.first(2);
});

test('a service that drains spreads its clients over more than a second', { timeout: 60_000 }, async (t) => {
  const draining = await startService();
  const { opened, errors } = listen(draining.url, 'drain');
  await opened.first(1);
  const waited = waits(t);
  assert.equal(await draining.stop(), 0);
  await errors.first(1);
  const [wait, ...more] = waited();
  assert.ok(wait >= RETRY_MS && wait <= 3 * RETRY_MS, `it waits ${wait} ms`);
  assert.deepEqual(more, []);
});

test('whoever asks for what is not there is told of the gap, once', { timeout: 60_000 }, async () => {
  for (let n = 1; n <= 3; n += 1) await share('gap', n);
  const ahead = listen(proxy.url, 'gap', { query: '&after=900' });
  const foreign = listen(service.url, 'gap', { headers: { 'Last-Event-ID': 'of another service' } });
  const behind = listen(service.url, 'gap', { query: '&after=900', headers: { 'Last-Event-ID': '2' } });
  const [gap, ...kept] = await ahead.heard.first(4);
  assert.deepEqual(gap, { type: 'gap', id: '0', data: { after: 900, from: 1 } });
  assert.deepEqual(ids(kept), [1, 2, 3]);
  assert.equal((await foreign.heard.first(4))[0].type, 'gap');
  assert.deepEqual(ids(await behind.heard.first(1)), [3], 'the header is newer than the query');
  // It asks for 900 again, but its last event says better.
  proxy.cut();
  await ahead.opened.first(2);
  await share('gap', 4);
  const items = await ahead.heard.first(5);
  assert.deepEqual([items[4].type, items[4].id], ['message', '4']);
  assert.equal(ahead.heard.items.length, 5);
});

test('a token may come in the query or in a header, and a wrong one ends the stream for good', { timeout: 60_000 }, async () => {
  const token = await service.login(4);
  const authorization = `Bearer ${token}`;
  const known = [listen(service.url, 'known', { query: `&token=${token}` }), listen(service.url, 'known', { headers: { authorization } })];
  for (const { opened } of known) await opened.first(1);
  const ways = [{ query: `&token=${token}` }, { headers: { authorization } }, {}];
  for (const how of ways) assert.equal((await share('known', 'who am I', how)).ok, true);
  for (const { heard } of known) {
    const [one, two, three] = (await heard.first(3)).map(({ data }) => data.senderId);
    assert.ok(one > 0 && one === two);
    assert.equal(three, 0);
  }
  for (const how of [{ query: '&token=wrong' }, { headers: { authorization: 'Bearer wrong' } }]) {
    const { source, errors, requests } = listen(service.url, 'known', how);
    assert.equal((await errors.first(1))[0].code, 401);
    assert.equal(source.readyState, EventSource.CLOSED);
    assert.equal(requests.items.length, 1);
    const { status, error } = await share('known', 1, how);
    assert.deepEqual([status, error.code], [401, 'unauthorized']);
  }
});

test('what is no stream ends for good, with a status that says why', { timeout: 60_000 }, async () => {
  for (const [group, query, code] of [['', '', 400], ['x'.repeat(65), '', 400], ['g', '&after=x', 400]]) {
    const { source, errors } = listen(service.url, group, { query });
    assert.equal((await errors.first(1))[0].code, code, group + query);
    assert.equal(source.readyState, EventSource.CLOSED);
  }
});

test('a key is published once for a known user', { timeout: 60_000 }, async () => {
  const { heard, opened } = listen(service.url, 'keys');
  await opened.first(1);
  const headers = { authorization: `Bearer ${await service.login(5)}`, 'idempotency-key': '"k"' };
  assert.deepEqual([(await share('keys', 1, { headers })).seq, (await share('keys', 1, { headers })).seq], [1, 1]);
  await share('keys', 2);
  assert.deepEqual((await heard.first(2)).map(({ data }) => data.content), [1, 2]);
});
