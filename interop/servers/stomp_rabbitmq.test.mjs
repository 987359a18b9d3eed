// Our engine against RabbitMQ's STOMP over WebSocket: receipts, acknowledgements, heart-beats and refusals of a real broker.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAllDelivered, assertClean, errorCounts, run } from '../support/run.mjs';
import { startRabbitmq } from './rabbitmq_server.mjs';

describe('RabbitMQ', { timeout: 300_000 }, () => {
  let broker;
  before(async () => (broker = await startRabbitmq()));
  after(() => broker?.stop());
  const guest = { login: 'guest', passcode: 'guest', host: '/' };
  const by = (stomp) => ({ config: { stomp: { url: '/ws', connectHeaders: guest, ...stomp } } });

  for (const version of ['1.0', '1.1', '1.2']) {
    test(`a room of ten users owes and delivers every copy by ${version}`, async () => {
      const summary = await run('stomp-room.yml', broker.url, by({ versions: [version] }));
      assertClean(summary, 10);
      assertAllDelivered(summary, 10 * 5 * 10);
      assert.equal(summary.traffic.stomp_sent, 50);
      assert.equal(summary.traffic.stomp_received, 500);
      assert.equal(summary.operations.find((one) => one.kind === 'stomp_request').count, 50, 'each waited for its receipt');
    });

    // The broker holds the second message back until the first is acknowledged.
    for (const ack of version === '1.0' ? ['client'] : ['client', 'client-individual']) {
      test(`every message is acknowledged in mode ${ack} by ${version}`, async () => {
        const subscribe = { destination: '/topic/{{ $room }}', headers: { 'prefetch-count': '1' } };
        const summary = await run('stomp-room.yml', broker.url, by({ versions: [version], ack, subscribe }));
        assertClean(summary, 10);
        assertAllDelivered(summary, 10 * 5 * 10);
      });
    }
  }

  test('heart-beats of both ends keep an idle session', async () => {
    const summary = await run('stomp-idle.yml', broker.url, by({ heartBeat: [500, 500] }));
    assertClean(summary, 3);
  });

  test('a wrong passcode is an outcome that carries what the ERROR frame says', async () => {
    const summary = await run('stomp-idle.yml', broker.url, by({ connectHeaders: { ...guest, passcode: 'wrong' } }));
    assert.deepEqual(errorCounts(summary), { broker_error: 3 });
    assert.match(summary.errors[0].example, /Bad CONNECT|Access refused/);
  });

  test('a destination the broker does not know fails the operation under way', async () => {
    const summary = await run('stomp-room.yml', broker.url, by({ publish: { destination: '/nowhere/at all' } }));
    assert.deepEqual(errorCounts(summary), { broker_error: 10 });
    assert.equal(summary.users.failed, 10);
  });
});
