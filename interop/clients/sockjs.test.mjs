// sockjs-client against our service: by itself, and under @stomp/stompjs.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import SockJS from 'sockjs-client';
import { startService } from '../support/service.mjs';
import { StompPeer } from '../support/stomp.mjs';
import { Inbox, within } from '../support/wait.mjs';

const WAYS = ['websocket', 'xhr-streaming', 'xhr-polling'];
const CONNECT = 'CONNECT\naccept-version:1.2\n\n\0';

let service;
let hasty;
const open = [];
before(async () => {
  service = await startService();
  hasty = await startService('--connect-timeout', '500ms');
});
after(async () => {
  await service?.stop();
  await hasty?.stop();
});
afterEach(() => Promise.all(open.splice(0).map((close) => close())));

/** A SockJS socket; its messages and how it closed. */
function dial(url, transports, options) {
  const socket = new SockJS(`${url}/location`, null, { transports, ...options });
  const heard = new Inbox();
  socket.onmessage = ({ data }) => heard.push(data);
  const opened = new Promise((resolve) => (socket.onopen = resolve));
  const closed = new Promise((resolve) => (socket.onclose = ({ code, reason, wasClean }) => resolve({ code, reason, wasClean })));
  open.push(() => socket.close());
  return {
    socket,
    heard,
    opened: () => within(10_000, 'open', () => opened),
    closed: () => within(10_000, 'the close', () => closed),
  };
}

/** One that STOMP is spoken over, by hand. */
async function connected(url, transport) {
  const there = dial(url, transport);
  await there.opened();
  there.socket.send(CONNECT);
  assert.match((await there.heard.first(1))[0], /^CONNECTED\nversion:1\.2\n/);
  return there;
}

test('what a client asks first says what is offered', async () => {
  const ask = async () => (await fetch(`${service.url}/location/info`)).json();
  const [one, other] = [await ask(), await ask()];
  const { entropy, ...offered } = one;
  assert.deepEqual(offered, { websocket: true, cookie_needed: false, origins: ['*:*'] });
  assert.ok(Number.isInteger(entropy) && entropy !== other.entropy);
  assert.equal(await (await fetch(`${service.url}/location`)).text(), 'Welcome to SockJS!\n');
});

for (const transport of WAYS) {
  describe(`SockJS by ${transport}`, { timeout: 60_000 }, () => {
    test('a session opens and carries messages both ways', async () => {
      const { socket, heard } = await connected(service.url, transport);
      assert.equal(socket.transport, transport);
      const say = (n) => socket.send(`SEND\ndestination:/pub/share/alone-${transport}\nreceipt:${n}\n\n"소나기 ${n} 🌧"\0`);
      socket.send(`SUBSCRIBE\nid:s\ndestination:/sub/location/alone-${transport}\n\n\0`);
      for (let n = 1; n <= 20; n += 1) say(n);
      const frames = (await heard.first(1 + 40)).slice(1);
      const of = (command) => frames.filter((frame) => frame.startsWith(command));
      const numbers = Array.from({ length: 20 }, (_, n) => String(n + 1));
      assert.deepEqual(of('MESSAGE').map((frame) => frame.match(/"소나기 (\d+) 🌧"/)[1]), numbers);
      assert.deepEqual(of('RECEIPT').map((frame) => frame.match(/receipt-id:(\d+)/)[1]), numbers);
    });

    test('a frame may be cut over messages, and messages share frames', async () => {
      const { socket, heard } = await connected(service.url, transport);
      const group = `cut-${transport}`;
      const frames = [
        `SUBSCRIBE\nid:s\ndestination:/sub/location/${group}\n\n\0`,
        `SEND\ndestination:/pub/share/${group}\nreceipt:a\n\n"비"\0\n`,
        `SEND\ndestination:/pub/share/${group}\nreceipt:b\n\n{"n":2}\0`,
      ].join('');
      for (let at = 0; at < frames.length; at += 37) socket.send(frames.slice(at, at + 37));
      const [, ...answers] = await heard.first(5);
      const found = answers.map((frame) => frame.match(/receipt-id:.|"content":[^,]+/)[0]);
      // Published together or one by one.
      assert.deepEqual(found.sort(), ['"content":"비"', '"content":{"n":2}', 'receipt-id:a', 'receipt-id:b']);
    });

    test('a client that closes ends its session', async () => {
      const its = await startService();
      try {
        const sessions = async () => (await (await fetch(`${its.url}/metrics`)).text()).match(/^chat_stomp_connected (\d+)$/m)[1];
        const there = await connected(its.url, transport);
        assert.equal(await sessions(), '1');
        there.socket.close();
        const { code, wasClean } = await there.closed();
        assert.deepEqual([code, wasClean], [1000, true]);
        await within(10_000, 'the end of the session', async (signal) => {
          while (!signal.aborted && (await sessions()) !== '0') await new Promise((resolve) => setTimeout(resolve, 20));
        });
      } finally {
        await its.stop();
      }
    });

    test('a session that STOMP ends closes with 3000', async () => {
      const there = await connected(service.url, transport);
      there.socket.send('DISCONNECT\nreceipt:bye\n\n\0');
      assert.match((await there.heard.first(2))[1], /^RECEIPT\nreceipt-id:bye\n/);
      assert.deepEqual(await there.closed(), { code: 3000, reason: 'Go away!', wasClean: true });
    });

    test('a breach of STOMP closes with 1002 behind its ERROR', async () => {
      const there = await connected(service.url, transport);
      there.socket.send('NONSENSE\n\n\0');
      assert.match((await there.heard.first(2))[1], /^ERROR\n(.*\n)*code:bad_frame\n/);
      assert.equal((await there.closed()).code, 1002);
    });

    test('who does not CONNECT in time is told that it has gone', async () => {
      const there = dial(hasty.url, transport);
      await there.opened();
      const { code } = await there.closed();
      assert.equal(code, transport === 'websocket' ? 3000 : 4003);
    });

    test('a service that drains says so', async () => {
      const draining = await startService();
      const there = await connected(draining.url, transport);
      assert.equal(await draining.stop(), 0);
      const { code } = await there.closed();
      assert.equal(code, transport === 'websocket' ? 3000 : 1012);
    });

    for (const version of ['1.0', '1.1', '1.2']) {
      test(`STOMP ${version} is spoken as in a bare WebSocket`, async () => {
        const group = `over-${transport}-${version}`;
        const peer = new StompPeer({ webSocketFactory: () => new SockJS(`${service.url}/location`, null, { transports: transport }), versions: [version] });
        open.push(() => peer.drop());
        const bare = new StompPeer({ brokerURL: `${service.websocketUrl}/location` });
        open.push(() => bare.drop());
        assert.equal((await peer.open()).version, version);
        await bare.open();
        const inboxes = [await peer.listen(`/sub/location/${group}`, { ack: 'client' }), await bare.listen(`/sub/location/${group}`)];
        const sent = Array.from({ length: 20 }, (_, n) => `소나기 ${n} 🌧 "quoted"\n\u2028`);
        await Promise.all(sent.map((content, n) => (n % 2 ? peer : bare).share(group, content)));
        const [here, there] = await Promise.all(inboxes.map((inbox) => inbox.first(20)));
        assert.deepEqual(here.map(({ message }) => message), there.map(({ message }) => message));
        assert.deepEqual(here.map(({ seq }) => seq), sent.map((_, n) => n + 1));
        assert.deepEqual(here.map(({ message }) => message.content).sort(), [...sent].sort());
        await peer.receipt((receipt) => here[19].frame.ack(receipt));
        await peer.client.deactivate();
        assert.equal(peer.endings.items.length, 1);
      });
    }
  });
}

test('a client of its own choice takes a WebSocket', { timeout: 60_000 }, async () => {
  const there = dial(service.url);
  await there.opened();
  assert.equal(there.socket.transport, 'websocket');
});

test('a client that asks for a way of old browsers goes on with one that is served, or fails', { timeout: 60_000 }, async () => {
  const there = dial(service.url, ['eventsource', 'xhr-polling']);
  await there.opened();
  assert.equal(there.socket.transport, 'xhr-polling');
  const { code, reason } = await dial(service.url, ['eventsource']).closed();
  assert.deepEqual([code, reason], [2000, 'All transports failed']);
});

test('an answer that streams ends when it has brought enough, and the client goes on with the next', { timeout: 60_000 }, async () => {
  const there = await connected(service.url, 'xhr-streaming');
  there.socket.send('SUBSCRIBE\nid:s\ndestination:/sub/location/much\n\n\0');
  const text = 'x'.repeat(50_000);
  // Five times what an answer may bring.
  for (let n = 1; n <= 13; n += 1) {
    there.socket.send(`SEND\ndestination:/pub/share/much\n\n"${text}"\0`);
    assert.match((await there.heard.first(1 + n))[n], new RegExp(`\nseq:${n}\n`));
  }
});
