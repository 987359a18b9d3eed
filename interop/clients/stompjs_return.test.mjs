// @stomp/stompjs coming back by itself from connections that are cut under way, by each way it can be carried.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import SockJS from 'sockjs-client';
import { startProxy } from '../support/proxy.mjs';
import { startService } from '../support/service.mjs';
import { StompPeer } from '../support/stomp.mjs';
import { Inbox } from '../support/wait.mjs';

const ROUNDS = 9;

// Streaming is missing: in Node the client does not notice when an answer under way is cut.
const WAYS = {
  'a WebSocket': (url) => ({ brokerURL: `${url.replace('http', 'ws')}/location` }),
  'SockJS in a WebSocket': (url) => ({ webSocketFactory: () => new SockJS(`${url}/location`, null, { transports: 'websocket' }) }),
  'SockJS by polling': (url) => ({ webSocketFactory: () => new SockJS(`${url}/location`, null, { transports: 'xhr-polling' }) }),
};

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
afterEach(async () => {
  proxy.cutAfter(Infinity);
  await Promise.all(open.splice(0).map((peer) => peer.drop()));
});

function dial(config) {
  const peer = new StompPeer(config);
  open.push(peer);
  return peer;
}

/** A peer that comes back by itself and goes on behind the last number it has got. */
function returning(group, config) {
  const heard = new Inbox();
  const hear = ({ headers, body }) => heard.push({ seq: Number(headers.seq), gap: headers.gap, content: JSON.parse(body).content });
  const subscribe = ({ client }) => client.subscribe(`/sub/location/${group}`, hear, { after: heard.items.at(-1)?.seq ?? 0 });
  const peer = dial({ ...config, reconnectDelay: 5, connectionTimeout: 2000, onConnect: subscribe });
  return { peer, heard };
}

for (const [way, config] of Object.entries(WAYS)) {
  test(`by ${way} a client cut off again and again hears every message once and in order`, { timeout: 60_000 }, async () => {
    const group = way.replaceAll(' ', '-');
    const speaker = dial(WAYS['a WebSocket'](service.url));
    await speaker.open();
    const { peer, heard } = returning(group, config(proxy.url));
    await peer.open();
    let sent = 0;
    const say = async (count) => {
      for (let n = 0; n < count; n += 1) await speaker.share(group, (sent += 1));
    };
    await say(1);
    await heard.first(1);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const greetings = peer.greetings.items.length;
      // Every third time the new connections are cut as well, somewhere in the handshake or in what was missed.
      if (round % 3 === 0) proxy.cutAfter(150 + 97 * round);
      proxy.cut();
      await say(round % 4);
      proxy.cutAfter(Infinity);
      await peer.greetings.first(greetings + 1);
      // Some at once, in the middle of what was missed.
      await say(round % 3);
    }
    await say(1);
    const numbers = Array.from({ length: sent }, (_, n) => n + 1);
    const items = await heard.first(sent);
    assert.deepEqual(items.map(({ seq }) => seq), numbers);
    assert.deepEqual(items.map(({ content }) => content), numbers);
    assert.ok(items.every(({ gap }) => gap === undefined));
    assert.ok(peer.greetings.items.length > ROUNDS, `it came back ${peer.greetings.items.length - 1} times`);
    // An answer that comes after anything still under way.
    await peer.share(group, 'the last');
    assert.equal(heard.items.length, sent + 1, 'nothing came twice');
  });
}

test('a service that drains closes its clients with 1012, and they try again until there is one', { timeout: 60_000 }, async () => {
  const draining = await startService();
  const peer = dial({ ...WAYS['a WebSocket'](draining.url), reconnectDelay: 5 });
  await peer.open();
  assert.equal(await draining.stop(), 0);
  const [first, second] = await peer.endings.first(2);
  assert.deepEqual(first, { close: 1012, reason: 'service restart' });
  assert.equal(second.close, 1006, 'nobody is there');
});
