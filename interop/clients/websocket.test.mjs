// The `ws` client against our raw WebSocket endpoints.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { startService } from '../support/service.mjs';
import { event, Inbox, within } from '../support/wait.mjs';

let service;
const open = [];
before(async () => (service = await startService()));
after(() => service?.stop());
afterEach(() => open.splice(0).forEach((client) => client.terminate()));

function dial(path, options) {
  const client = new WebSocket(service.websocketUrl + path, options);
  client.inbox = new Inbox();
  client.on('message', (data, binary) => client.inbox.push(binary ? data : data.toString()));
  client.on('error', () => {});
  open.push(client);
  return client;
}

/** User n in the room, told so by the service. */
async function member(n, roomId) {
  const client = dial(`/ws?room=${encodeURIComponent(roomId)}&token=${await service.login(n)}`);
  const joined = JSON.parse((await client.inbox.first(1))[0]);
  assert.equal(joined.type, 'joined');
  assert.equal(joined.room, roomId);
  return client;
}

const newRoom = async (name) => service.room(await service.login(1), name);
const messages = (client) => client.inbox.items.map(JSON.parse).filter(({ type }) => type === 'message');

test('everyone in a room hears every message once and in order, and the sender is acknowledged', async () => {
  const roomId = await newRoom('raw');
  const members = await Promise.all([1, 2, 3].map((n) => member(n, roomId)));
  const sent = Array.from({ length: 50 }, (_, n) => `raw ${n} 비`);
  sent.forEach((content, n) => members[0].send(JSON.stringify({ type: 'send', content, id: `m${n}` })));
  await Promise.all([members[0].inbox.first(1 + 100), members[1].inbox.first(1 + 50), members[2].inbox.first(1 + 50)]);
  for (const client of members) assert.deepEqual(messages(client).map(({ content }) => content), sent);
  const acknowledged = members[0].inbox.items.map(JSON.parse).filter(({ type }) => type === 'ack');
  assert.deepEqual(acknowledged.map(({ id }) => id), sent.map((_, n) => `m${n}`));
  assert.deepEqual(acknowledged.map(({ seq }) => seq), messages(members[0]).map(({ seq }) => seq));
  assert.equal(acknowledged.some((ack) => 'content' in ack), false);
});

test('a token in the Authorization header is as good as one in the query', async () => {
  const roomId = await newRoom('header');
  const client = dial(`/ws?room=${roomId}`, { headers: { authorization: `Bearer ${await service.login(4)}` } });
  assert.equal(JSON.parse((await client.inbox.first(1))[0]).type, 'joined');
});

test('a wrong token is answered 401, not upgraded', async () => {
  const client = dial('/ws?room=lobby&token=wrong');
  const [, response] = await event(client, 'unexpected-response');
  assert.equal(response.statusCode, 401);
});

test('an upgrade of a path that is not there is answered 404', async () => {
  const [, response] = await event(dial('/nowhere'), 'unexpected-response');
  assert.equal(response.statusCode, 404);
});

test('a client that leaves hears nothing more', async () => {
  const roomId = await newRoom('leave');
  const [stays, leaves] = await Promise.all([5, 6].map((n) => member(n, roomId)));
  leaves.send(JSON.stringify({ type: 'leave', room: roomId }));
  const next = JSON.parse((await leaves.inbox.first(2))[1]);
  assert.equal(next.type, 'left');
  stays.send(JSON.stringify({ type: 'send', content: 'alone', id: 'a' }));
  await stays.inbox.first(3);
  assert.deepEqual(messages(leaves), []);
  assert.equal(messages(stays).length, 1);
});

test('a ping is answered with its own payload', async () => {
  const client = dial('/ws/echo');
  await event(client, 'open');
  client.ping('are you there');
  const [payload] = await event(client, 'pong');
  assert.equal(payload.toString(), 'are you there');
});

test('the echo returns text, binary, empty and fragmented messages as they were', async () => {
  const client = dial('/ws/echo');
  await event(client, 'open');
  const large = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 251));
  client.send('소나기');
  client.send(Buffer.from([0, 255, 128]));
  client.send('');
  client.send(large);
  client.send('in ', { fin: false });
  client.send('three ', { fin: false });
  client.send('frames', { fin: true });
  const [text, binary, empty, echoed, joined] = await client.inbox.first(5);
  assert.equal(text, '소나기');
  assert.deepEqual(binary, Buffer.from([0, 255, 128]));
  assert.equal(empty, '');
  assert.deepEqual(echoed, large);
  assert.equal(joined, 'in three frames');
});

test('a close is answered with the same code', async () => {
  const client = dial('/ws/echo');
  await event(client, 'open');
  client.close(4321, 'enough');
  const [code] = await event(client, 'close');
  assert.equal(code, 4321);
});

test('a message over the limit is answered with close code 1009', async () => {
  const small = await startService('--max-payload', '1000');
  try {
    const client = new WebSocket(`${small.websocketUrl}/ws?room=lobby&token=${await small.login(1)}`);
    open.push(client);
    client.on('error', () => {});
    await event(client, 'message');
    client.send('x'.repeat(1001));
    assert.equal((await event(client, 'close'))[0], 1009);
  } finally {
    await small.stop();
  }
});

test('a service that drains closes with 1012', async () => {
  const draining = await startService();
  const client = new WebSocket(`${draining.websocketUrl}/ws?room=lobby&token=${await draining.login(1)}`);
  open.push(client);
  await event(client, 'message');
  const [[code]] = await within(10_000, 'the drain', () => Promise.all([once(client, 'close'), draining.stop()]));
  assert.equal(code, 1012);
});
