// Signs of life, which take their time: all of these wait at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import SockJS from 'sockjs-client';
import { startService } from '../support/service.mjs';
import { StompPeer } from '../support/stomp.mjs';
import { event, Inbox } from '../support/wait.mjs';

/** The shortest that the service agrees to. */
const EVERY_MS = 10_000;
/** Silence is borne for two of them. */
const LIMIT_MS = 40_000;

let service;
before(async () => (service = await startService('--connect-timeout', '60s')));
after(() => service?.stop());

const sockjs = (transports) => new SockJS(`${service.url}/location`, null, { transports });

/** A client that agrees to heart-beats both ways, and what came of them. */
async function beating(config) {
  const beats = new Inbox();
  const lost = new Inbox();
  const peer = new StompPeer({
    ...config,
    heartbeatIncoming: EVERY_MS,
    heartbeatOutgoing: EVERY_MS,
    onHeartbeatReceived: () => beats.push('beat'),
    onHeartbeatLost: () => lost.push('lost'),
  });
  await peer.open();
  return { peer, beats, lost };
}

describe('who is silent', { concurrency: true, timeout: 60_000 }, () => {
  for (const version of ['1.1', '1.2']) {
    test(`a client of STOMP ${version} whose heart-beats go on is kept beyond the silence that is borne`, async () => {
      const { peer, beats, lost } = await beating({ brokerURL: `${service.websocketUrl}/location`, versions: [version] });
      await beats.first(3, LIMIT_MS);
      await peer.share('beats', 'still here');
      assert.deepEqual([lost.items, peer.endings.items], [[], []]);
      await peer.drop();
    });

    test(`a client of STOMP ${version} that stops its heart-beats is closed`, async () => {
      const { peer, beats } = await beating({ brokerURL: `${service.websocketUrl}/location`, versions: [version] });
      peer.client.webSocket.send = () => {};
      assert.deepEqual((await peer.endings.first(1, LIMIT_MS))[0], { close: 4004, reason: 'ping unanswered' });
      assert.ok(beats.items.length >= 1, 'the service did not stop its own');
    });
  }

  test('a client of STOMP 1.0 has none, and may be silent as long as it likes', async () => {
    const { peer, beats } = await beating({ brokerURL: `${service.websocketUrl}/location`, versions: ['1.0'] });
    const other = await beating({ brokerURL: `${service.websocketUrl}/location` });
    await other.beats.first(3, LIMIT_MS);
    await peer.share('beats', 'still here');
    assert.deepEqual([beats.items, peer.endings.items], [[], []]);
    await Promise.all([peer.drop(), other.peer.drop()]);
  });

  for (const transport of ['websocket', 'xhr-streaming', 'xhr-polling']) {
    test(`heart-beats of STOMP go through SockJS by ${transport}, in place of its own`, async () => {
      const { peer, beats, lost } = await beating({ webSocketFactory: () => sockjs(transport) });
      let own = 0;
      peer.client.webSocket.onheartbeat = () => (own += 1);
      await beats.first(3, LIMIT_MS);
      await peer.share('beats', 'still here');
      assert.deepEqual([lost.items, peer.endings.items, own], [[], [], 0]);
      await peer.drop();
    });

    test(`SockJS by ${transport} says by itself that it is alive`, async () => {
      const socket = sockjs(transport);
      // What an answer that streams begins with looks like a heart-beat, too.
      await event(socket, 'open');
      await event(socket, 'heartbeat', LIMIT_MS);
      assert.equal(socket.transport, transport);
      socket.close();
    });
  }
});
