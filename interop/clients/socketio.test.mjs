// The official Socket.IO client against our service, over each way it can connect.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { io } from 'socket.io-client';
import { startService } from '../support/service.mjs';
import { event, Inbox } from '../support/wait.mjs';

const WAYS = { websocket: ['websocket'], polling: ['polling'], 'polling upgraded to websocket': ['polling', 'websocket'] };

let service;
const open = [];
before(async () => (service = await startService()));
after(() => service?.stop());
afterEach(() => open.splice(0).forEach((client) => client.disconnect()));

function connect(transports, token) {
  const client = io(service.url, { transports, auth: token && { token }, forceNew: true, reconnection: false });
  open.push(client);
  return client;
}

/** User n, connected and in the room; `heard` is its inbox of `newMessage`. */
async function member(transports, n, roomId, token) {
  token ??= await service.login(n);
  const client = connect(transports, token);
  client.heard = new Inbox();
  client.on('newMessage', (message) => client.heard.push(message));
  await event(client, 'connect');
  const joined = await client.timeout(5000).emitWithAck('joinRoom', { roomId });
  assert.equal(joined.ok, true);
  return client;
}

for (const [way, transports] of Object.entries(WAYS)) {
  describe(`by ${way}`, { timeout: 60_000 }, () => {
    const newRoom = async (name) => service.room(await service.login(1), `${name} by ${way}`);

    test('everyone in the room hears every message once and in order, the sender included', async () => {
      const roomId = await newRoom('in order');
      const members = await Promise.all([1, 2, 3].map((n) => member(transports, n, roomId)));
      const sent = Array.from({ length: 20 }, (_, n) => `message ${n}: 소나기 "quoted" ${n}`);
      for (const content of sent) {
        const answer = await members[0].timeout(5000).emitWithAck('sendMessage', { roomId, content });
        assert.equal(answer.ok, true);
        assert.equal(JSON.stringify(answer).includes('소나기'), false, 'the acknowledgement does not echo the content');
      }
      for (const { heard } of members) {
        const messages = await heard.first(sent.length);
        assert.deepEqual(messages.map((message) => message.content), sent);
        const first = messages[0].seq;
        assert.deepEqual(messages.map((message) => message.seq - first), sent.map((_, n) => n), 'sequence numbers are dense');
        assert.deepEqual(new Set(messages.map((message) => message.roomId)), new Set([roomId]));
      }
    });

    test('a burst without waiting for acknowledgements stays in order', async () => {
      const roomId = await newRoom('burst');
      const [sender, receiver] = await Promise.all([4, 5].map((n) => member(transports, n, roomId)));
      const sent = Array.from({ length: 200 }, (_, n) => `burst ${n}`);
      for (const content of sent) sender.emit('sendMessage', { roomId, content });
      assert.deepEqual((await receiver.heard.first(200)).map((message) => message.content), sent);
    });

    test('a message of 60 kB arrives whole', async () => {
      const roomId = await newRoom('large');
      const client = await member(transports, 6, roomId);
      const content = '비'.repeat(20_000);
      client.emit('sendMessage', { roomId, content });
      assert.equal((await client.heard.first(1))[0].content, content);
    });

    test('a token that is not ours is refused at the handshake of the namespace', async () => {
      const [error] = await event(connect(transports, 'not a token'), 'connect_error');
      assert.equal(error.message, 'unauthorized');
    });

    test('who has no token is let in, where everybody may be', async () => {
      const client = connect(transports);
      client.heard = new Inbox();
      client.on('newMessage', (message) => client.heard.push(message));
      await event(client, 'connect');
      const refused = await client.timeout(5000).emitWithAck('joinRoom', { roomId: await newRoom('closed') });
      assert.equal(refused.error.code, 'unauthorized');
      const roomId = `location:${way.replaceAll(' ', '-')}`;
      assert.deepEqual(await client.timeout(5000).emitWithAck('joinRoom', { roomId }), { ok: true, room: roomId, seq: 0 });
      assert.deepEqual(await client.timeout(5000).emitWithAck('sendMessage', { roomId, content: [1] }), { ok: true, seq: 1 });
      const [message] = await client.heard.first(1);
      assert.deepEqual([message.roomId, message.senderId, message.content], [roomId, 0, [1]]);
    });

    test('a namespace that is not there is refused', async () => {
      const client = io(`${service.url}/nowhere`, { transports, forceNew: true, reconnection: false });
      open.push(client);
      const [error] = await event(client, 'connect_error');
      assert.equal(error.message, 'Invalid namespace');
    });

    test('who has left a room hears nothing of it', async () => {
      const roomId = await newRoom('left');
      const [stays, leaves] = await Promise.all([7, 8].map((n) => member(transports, n, roomId)));
      assert.equal((await leaves.timeout(5000).emitWithAck('leaveRoom', { roomId })).ok, true);
      assert.equal((await stays.timeout(5000).emitWithAck('sendMessage', { roomId, content: 'still here' })).ok, true);
      await stays.heard.first(1);
      // An answer that must come after anything still under way.
      await leaves.timeout(5000).emitWithAck('joinRoom', { roomId });
      assert.deepEqual(leaves.heard.items, []);
      assert.deepEqual(stays.heard.items.map((message) => message.content), ['still here']);
    });

    test('a room of two others admits neither joining nor sending', async () => {
      const token = await service.login(1);
      const { roomId, friend } = await service.privateRoom(token);
      const outsider = Array.from({ length: 20 }, (_, n) => n + 1).find((n) => n > 1 && friend.email !== `user${n}@example.test`);
      const inside = await member(transports, 1, roomId, token);
      const outside = await member(transports, outsider, await newRoom('outside'));
      assert.equal((await outside.timeout(5000).emitWithAck('joinRoom', { roomId })).ok, false);
      assert.equal((await outside.timeout(5000).emitWithAck('sendMessage', { roomId, content: 'let me in' })).ok, false);
      assert.equal((await inside.timeout(5000).emitWithAck('sendMessage', { roomId, content: 'ours' })).ok, true);
      assert.deepEqual((await inside.heard.first(1)).map((message) => message.content), ['ours']);
      assert.deepEqual(outside.heard.items, []);
    });

    test('an event with binary arguments does not disturb the session', async () => {
      const roomId = await newRoom('binary');
      const client = await member(transports, 9, roomId);
      client.emit('picture', { bytes: Buffer.from([0, 1, 2, 255]) }, new Uint8Array(70_000));
      assert.equal((await client.timeout(5000).emitWithAck('sendMessage', { roomId, content: 'after it' })).ok, true);
      assert.equal((await client.heard.first(1))[0].content, 'after it');
    });

    test('a client that disconnects says so and can come back', async () => {
      const roomId = await newRoom('back');
      const token = await service.login(10);
      const client = await member(transports, 10, roomId, token);
      const gone = event(client, 'disconnect');
      client.disconnect();
      assert.equal((await gone)[0], 'io client disconnect');
      const again = await member(transports, 10, roomId, token);
      assert.equal((await again.timeout(5000).emitWithAck('sendMessage', { roomId, content: 'back' })).ok, true);
    });
  });
}

test('what is said while a session is being upgraded is neither lost, doubled nor reordered', { timeout: 60_000 }, async () => {
  const roomId = await service.room(await service.login(1), 'upgrading');
  const token = await service.login(11);
  const client = connect(['polling', 'websocket'], token);
  const heard = new Inbox();
  client.on('newMessage', (message) => heard.push(message.content));
  const upgraded = event(client.io.engine, 'upgrade');
  await event(client, 'connect');
  client.emit('joinRoom', { roomId });
  const sent = [];
  const say = () => sent.push(`word ${sent.length}`) && client.emit('sendMessage', { roomId, content: sent.at(-1) });
  const speaking = setInterval(say, 1);
  await upgraded;
  assert.equal(client.io.engine.transport.name, 'websocket');
  clearInterval(speaking);
  for (let n = 0; n < 50; n++) say();
  assert.deepEqual(await heard.first(sent.length), sent);
});

test('a service that drains sends its clients away in a way that lets them come back', { timeout: 60_000 }, async () => {
  const draining = await startService();
  const client = io(draining.url, { transports: ['websocket'], auth: { token: await draining.login(1) }, reconnection: false });
  open.push(client);
  await event(client, 'connect');
  const gone = event(client, 'disconnect');
  assert.equal(await draining.stop(), 0);
  // `io server disconnect` would have them stay away, reconnection or not.
  assert.equal((await gone)[0], 'transport close');
});
