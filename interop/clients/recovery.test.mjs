// Connection state recovery, as the official Socket.IO client does it, with connections that are cut under way.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { io } from 'socket.io-client';
import { startProxy } from '../support/proxy.mjs';
import { startService } from '../support/service.mjs';
import { event, Inbox, within } from '../support/wait.mjs';

const WAYS = { websocket: ['websocket'], polling: ['polling'] };
const ROUNDS = 9;

let service;
let proxy;
const open = [];
before(async () => {
  service = await startService('--recovery', '60s');
  proxy = await startProxy(service.url);
});
after(async () => {
  await proxy?.stop();
  await service?.stop();
});
afterEach(() => {
  proxy.cutAfter(Infinity);
  open.splice(0).forEach((client) => client.disconnect());
});

/** A client whose connections can be cut; it comes back by itself, at once. */
function connect(url, transports, token) {
  // A connection that ends in the middle of its handshake is nothing to the client until its time to open is over.
  const delays = { reconnectionDelay: 5, reconnectionDelayMax: 50, randomizationFactor: 0.5, timeout: 1000 };
  const client = io(url, { transports, auth: token && { token }, forceNew: true, ...delays });
  client.heard = new Inbox();
  client.on('newMessage', (message) => client.heard.push(message));
  open.push(client);
  return client;
}

const join = (client, roomId, rest) => client.timeout(5000).emitWithAck('joinRoom', { roomId, ...rest });
const send = (client, roomId, content) => client.timeout(5000).emitWithAck('sendMessage', { roomId, content });

for (const [way, transports] of Object.entries(WAYS)) {
  describe(`by ${way}`, { timeout: 120_000 }, () => {
    // By polling the client may wait for an answer that was cut off until its pings fail: the service's own tests have that.
    if (way === 'websocket') test('a client cut off again and again hears every message once and in order', async () => {
      const speaker = connect(service.url, ['websocket'], await service.login(1));
      const listener = connect(proxy.url, transports, await service.login(2));
      const rooms = [`location:one-${way}`, `location:two-${way}`];
      for (const room of rooms) assert.equal((await join(listener, room)).ok, true);
      const first = listener.id;
      const returns = [];
      listener.on('connect', () => returns.push([listener.id, listener.recovered]));
      const sent = { [rooms[0]]: 0, [rooms[1]]: 0 };
      const say = async (room) => {
        sent[room] += 1;
        assert.equal((await send(speaker, room, sent[room])).seq, sent[room]);
      };
      await say(rooms[0]);
      await listener.heard.first(1);

      for (let round = 0; round < ROUNDS; round += 1) {
        const back = event(listener, 'connect');
        // Every third time the new connection is cut as well, somewhere in its greeting or in what was missed.
        if (round % 3 === 2) proxy.cutAfter(150 + 37 * round);
        proxy.cut();
        for (const room of rooms) for (let n = 0; n <= round % 4; n += 1) await say(room);
        proxy.cutAfter(Infinity);
        await back;
        await say(rooms[round % 2]);
      }

      assert.ok(returns.length >= ROUNDS);
      assert.deepEqual(returns, returns.map(() => [first, true]), 'the session is the same each time');
      const total = sent[rooms[0]] + sent[rooms[1]];
      const heard = await listener.heard.first(total);
      for (const room of rooms) {
        const seqs = heard.filter(({ roomId }) => roomId === room).map(({ seq }) => seq);
        assert.deepEqual(seqs, Array.from({ length: sent[room] }, (_, n) => n + 1));
      }
      // An answer that must come after anything still under way.
      assert.equal((await join(listener, rooms[0])).ok, true);
      assert.equal(listener.heard.items.length, total, 'nothing came twice');
    });

    test('who said goodbye is not recovered', async () => {
      const client = connect(proxy.url, transports, await service.login(3));
      await join(client, `location:goodbye-${way}`);
      await send(client, `location:goodbye-${way}`, 'heard');
      await client.heard.first(1);
      client.disconnect();
      const back = event(client, 'connect');
      client.connect();
      await back;
      assert.equal(client.recovered, false);
      await send(client, `location:goodbye-${way}`, 'unheard');
      assert.equal((await join(client, `location:goodbye-${way}`)).seq, 2);
      assert.equal(client.heard.items.length, 1, 'it is in no room until it joins');
    });
  });
}

test('who missed more than is kept gets a fresh session, and joins behind what it has', { timeout: 60_000 }, async () => {
  const room = 'location:far-behind';
  const speaker = connect(service.url, ['websocket'], await service.login(4));
  const listener = connect(proxy.url, ['websocket'], await service.login(5));
  await join(listener, room);
  await send(speaker, room, 0);
  await listener.heard.first(1);
  listener.io.reconnection(false);
  const gone = event(listener, 'disconnect');
  proxy.cut();
  await gone;
  for (let n = 1; n <= 300; n += 1) await send(speaker, room, n);
  const back = event(listener, 'connect');
  listener.connect();
  await back;
  assert.equal(listener.recovered, false);
  const joined = await join(listener, room, { after: 1 });
  assert.deepEqual([joined.seq, joined.gap ?? false], [301, false]);
  const heard = await listener.heard.first(301);
  assert.deepEqual(heard.map(({ content }) => content), Array.from({ length: 301 }, (_, n) => n));
});

test('the same client without recovery on the service is never recovered', { timeout: 60_000 }, async () => {
  const plain = await startService();
  const relay = await startProxy(plain.url);
  try {
    const client = connect(relay.url, ['websocket'], await plain.login(1));
    await join(client, 'location:plain');
    await send(client, 'location:plain', 1);
    await client.heard.first(1);
    const back = event(client, 'connect');
    relay.cut();
    await back;
    assert.ok(!client.recovered);
  } finally {
    open.splice(0).forEach((client) => client.disconnect());
    await relay.stop();
    await within(10_000, 'the end of the service', () => plain.stop());
  }
});
