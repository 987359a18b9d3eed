// Our engine against Spring's simple broker: STOMP over WebSocket, and in SockJS.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAllDelivered, assertClean, errorCounts, run } from '../support/run.mjs';
import { startSpring } from './spring_server.mjs';

describe("Spring's simple broker", { timeout: 300_000 }, () => {
  let broker;
  before(async () => (broker = await startSpring()));
  after(() => broker?.stop());
  const by = (stomp) => ({ config: { stomp: { url: '/ws', receipts: [], ...stomp } } });

  for (const version of ['1.0', '1.1', '1.2']) {
    test(`a room of ten users owes and delivers every copy by ${version}`, async () => {
      const summary = await run('stomp-room.yml', broker.url, by({ versions: [version] }));
      assertClean(summary, 10);
      assertAllDelivered(summary, 10 * 5 * 10);
      assert.equal(summary.traffic.stomp_sent, 50);
      assert.equal(summary.traffic.stomp_received, 500);
    });
  }

  test('the same room in SockJS', async () => {
    const summary = await run('stomp-room.yml', broker.url, by({ url: '/sockjs', sockjs: true }));
    assertClean(summary, 10);
    assertAllDelivered(summary, 10 * 5 * 10);
  });

  test('what goes through the application comes back as binary messages', async () => {
    const summary = await run('stomp-room.yml', broker.url, by({ publish: { destination: '/app/share/{{ $room }}' } }));
    assertClean(summary, 10);
    assertAllDelivered(summary, 10 * 5 * 10);
  });

  for (const [way, options] of [['raw', {}], ['in SockJS', { url: '/sockjs', sockjs: true }]]) {
    test(`heart-beats of both ends keep an idle session, ${way}`, async () => {
      // Two seconds of patience in three of silence: half of it was too little for a JVM on a busy machine.
      const summary = await run('stomp-idle.yml', broker.url, by({ heartBeat: [500, 1000], ...options }));
      assertClean(summary, 3);
      assert.equal(summary.traffic.messages_received, 0);
    });
  }

  test('receipts that this broker does not give are missed at their limit', async () => {
    const summary = await run('stomp-idle.yml', broker.url, by({ receipts: ['subscribe'] }));
    assert.deepEqual(errorCounts(summary), { ack_timeout: 3 });
    assert.ok(summary.operations.find((one) => one.kind === 'stomp_subscribe').response_ms.min >= 1999);
  });

  test('an endpoint that is not there refuses the upgrade', async () => {
    const summary = await run('stomp-idle.yml', broker.url, by({ url: '/nowhere' }));
    assert.deepEqual(errorCounts(summary), { handshake_refused_404: 3 });
  });
});
