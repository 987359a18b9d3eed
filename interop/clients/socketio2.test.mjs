// The official client of Socket.IO 2 (Engine.IO 3) against our service, over each way it can connect.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { io as io4 } from 'socket.io-client';
import io from 'socket.io-client-2';
import { startService } from '../support/service.mjs';
import { event, Inbox, within } from '../support/wait.mjs';

const WAYS = { websocket: ['websocket'], polling: ['polling'], 'polling upgraded to websocket': ['polling', 'websocket'] };

let service;
let suite;
const open = [];
before(async () => {
  service = await startService();
  suite = await startService('--protocol-suite', '--ping-interval', '300ms', '--ping-timeout', '300ms');
});
after(async () => {
  await service?.stop();
  await suite?.stop();
});
afterEach(() => open.splice(0).forEach((client) => client.close()));

function connect(url, transports, { token, ...options } = {}) {
  const client = io(url, { transports, query: token && { token }, forceNew: true, reconnection: false, ...options });
  client.heard = new Inbox();
  client.on('newMessage', (message) => client.heard.push(message));
  open.push(client);
  return client;
}

/** Emits and returns what it is acknowledged with: version 2 has no promises. */
function ask(client, name, ...values) {
  return within(10_000, `the acknowledgement of ${name}`, () => new Promise((resolve) => client.emit(name, ...values, resolve)));
}

async function member(transports, n, roomId) {
  const client = connect(service.url, transports, { token: await service.login(n) });
  await event(client, 'connect');
  assert.equal((await ask(client, 'joinRoom', { roomId })).ok, true);
  return client;
}

for (const [way, transports] of Object.entries(WAYS)) {
  describe(`version 2 by ${way}`, { timeout: 60_000 }, () => {
    const newRoom = async (name) => service.room(await service.login(1), `${name} of 2 by ${way}`);

    test('members of both versions hear every message once and in order', async () => {
      const roomId = await newRoom('in order');
      const members = await Promise.all([1, 2].map((n) => member(transports, n, roomId)));
      const newer = io4(service.url, { transports, auth: { token: await service.login(3) }, forceNew: true });
      open.push(newer);
      newer.heard = new Inbox();
      newer.on('newMessage', (message) => newer.heard.push(message));
      assert.equal((await newer.timeout(5000).emitWithAck('joinRoom', { roomId })).ok, true);
      const sent = Array.from({ length: 30 }, (_, n) => `message ${n}: 소나기 🌧 "quoted"`);
      for (const [n, content] of sent.entries()) {
        const answer = n % 2 ? await ask(members[1], 'sendMessage', { roomId, content }) : await newer.timeout(5000).emitWithAck('sendMessage', { roomId, content });
        assert.deepEqual(answer, { ok: true, seq: n + 1 });
      }
      for (const { heard } of [...members, newer]) {
        const messages = await heard.first(sent.length);
        assert.deepEqual(messages.map(({ content }) => content), sent);
        assert.deepEqual(messages.map(({ seq }) => seq), sent.map((_, n) => n + 1));
      }
    });

    test('a message of 60 kB of characters outside of ASCII arrives whole', async () => {
      const roomId = await newRoom('large');
      const client = await member(transports, 4, roomId);
      const content = '비🌧'.repeat(8000);
      client.emit('sendMessage', { roomId, content });
      assert.equal((await client.heard.first(1))[0].content, content);
    });

    test('a wrong token is an error, and none is let in where everybody may be', async () => {
      const [error] = await event(connect(service.url, transports, { token: 'not a token' }), 'error');
      assert.equal(error, 'unauthorized');
      const nobody = connect(service.url, transports);
      await event(nobody, 'connect');
      assert.equal((await ask(nobody, 'joinRoom', { roomId: 'lobby' })).error.code, 'unauthorized');
      const roomId = `location:of 2 by ${way}`.replaceAll(' ', '-');
      assert.equal((await ask(nobody, 'joinRoom', { roomId })).ok, true);
      assert.equal((await ask(nobody, 'sendMessage', { roomId, content: { lat: 37.5 } })).ok, true);
      const [message] = await nobody.heard.first(1);
      assert.deepEqual([message.senderId, message.content], [0, { lat: 37.5 }]);
    });

    test('events, acknowledgements and binary travel both ways', async () => {
      const client = connect(suite.url, transports);
      const back = event(client, 'message-back');
      client.emit('message', 1, '둘', { three: [Buffer.from([0, 255, 3])] }, Buffer.alloc(70_000, 7));
      const [one, two, three, large] = await back;
      assert.deepEqual([one, two], [1, '둘']);
      assert.deepEqual(Buffer.from(three.three[0]), Buffer.from([0, 255, 3]));
      assert.deepEqual(Buffer.from(large), Buffer.alloc(70_000, 7));
      assert.deepEqual(Buffer.from(await ask(client, 'message-with-ack', Buffer.from('소나기'))), Buffer.from('소나기'));
      assert.equal(await ask(client, 'message-with-ack', 'text'), 'text');
    });

    test('a namespace is entered with a query, and one that is not there is refused', async () => {
      const client = connect(`${suite.url}/custom?token=a%20b`, transports);
      // The client sends what is behind the name in its own way: what counts is that it arrives.
      const [auth] = await event(client, 'auth');
      assert.equal(auth.token, 'a b');
      assert.equal(await ask(client, 'message-with-ack', 7), 7);
      const [error] = await event(connect(`${suite.url}/nowhere`, transports), 'error');
      assert.equal(error, 'Invalid namespace');
    });

    test('its pings are answered, and it stays as long as it likes', async () => {
      const client = connect(suite.url, transports);
      await event(client, 'connect');
      // Four times the interval: far beyond what silence would be forgiven.
      for (let pongs = 0; pongs < 4; pongs += 1) await event(client, 'pong');
      assert.equal(await ask(client, 'message-with-ack', 'still here'), 'still here');
    });

    test('it comes back after a lost connection', async () => {
      const roomId = await newRoom('back');
      const client = connect(service.url, transports, { token: await service.login(5), reconnection: true, reconnectionDelay: 5 });
      await event(client, 'connect');
      const gone = event(client, 'disconnect');
      const back = event(client, 'reconnect');
      client.io.engine.close();
      await gone;
      await back;
      assert.equal((await ask(client, 'joinRoom', { roomId })).ok, true);
      assert.equal((await ask(client, 'sendMessage', { roomId, content: 'back' })).ok, true);
      assert.equal((await client.heard.first(1))[0].content, 'back');
    });
  });
}

test('what is said while a version 2 session is upgraded is neither lost, doubled nor reordered', { timeout: 60_000 }, async () => {
  const roomId = await service.room(await service.login(1), 'upgrading version 2');
  const client = connect(service.url, ['polling', 'websocket'], { token: await service.login(6) });
  await event(client, 'connect');
  const upgraded = event(client.io.engine, 'upgrade');
  client.emit('joinRoom', { roomId });
  const sent = [];
  const say = () => sent.push(`word ${sent.length}`) && client.emit('sendMessage', { roomId, content: sent.at(-1) });
  const speaking = setInterval(say, 1);
  await upgraded;
  assert.equal(client.io.engine.transport.name, 'websocket');
  clearInterval(speaking);
  for (let n = 0; n < 50; n += 1) say();
  const heard = await client.heard.first(sent.length);
  assert.deepEqual(heard.map(({ content }) => content), sent);
});

test('a service that drains sends its version 2 clients away in a way that lets them come back', { timeout: 60_000 }, async () => {
  const draining = await startService();
  const client = connect(draining.url, ['websocket'], { token: await draining.login(1) });
  await event(client, 'connect');
  const gone = event(client, 'disconnect');
  assert.equal(await draining.stop(), 0);
  // `io server disconnect` would have them stay away, reconnection or not.
  assert.equal((await gone)[0], 'transport close');
});
