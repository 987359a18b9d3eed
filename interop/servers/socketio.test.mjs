// Our engine against the official Socket.IO server, over each way it can connect.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { assertAllDelivered, assertClean, errorCounts, operation, run } from '../support/run.mjs';
import { startSocketio } from './socketio_server.mjs';

const WAYS = { websocket: ['websocket'], polling: ['polling'], 'polling upgraded to websocket': ['polling', 'websocket'] };

for (const [way, transports] of Object.entries(WAYS)) {
  describe(`by ${way}`, { timeout: 120_000 }, () => {
    let server;
    const by = { config: { socketio: { transports } } };
    beforeEach(async () => {
      await server?.close();
      server = await startSocketio();
    });
    after(() => server.close());

    test('a room of ten users owes and delivers every copy', async () => {
      const summary = await run('room.yml', server.url, by);
      assertClean(summary, 10);
      assertAllDelivered(summary, 10 * 5 * 10);
      assert.equal(operation(summary, 'emit sendMessage').count, 50);
      assert.deepEqual(server.seen.events, { joinRoom: 10, sendMessage: 50 });
      assert.deepEqual(server.seen.transports, { [transports[0]]: 10 });
      assert.equal(server.seen.upgrades, transports.length > 1 ? 10 : 0);
    });

    test('a namespace of its own is joined before the first emit into it', async () => {
      const summary = await run('namespace.yml', server.url, by);
      assertClean(summary, 5);
      assertAllDelivered(summary, 5 * 5);
      assert.deepEqual(server.seen.events, { joinRoom: 5, sendMessage: 5 });
    });

    test('acknowledgements are matched, captured and timed', async () => {
      const summary = await run('answers.yml', server.url, by);
      assertClean(summary, 5);
      assert.deepEqual(server.seen.events, { add: 10, slowly: 5, ask: 5 });
      assert.equal(operation(summary, 'emit slowly').count, 5);
      assert.ok(operation(summary, 'emit slowly').response_ms.min >= 119, 'as long as the server took');
    });

    test('events and acknowledgements with binary attachments are understood', async () => {
      const summary = await run('binary.yml', server.url, by);
      assertClean(summary, 4);
      assert.deepEqual(server.seen.events, { draw: 12 });
    });

    test('binary arguments we send arrive as bytes and are acknowledged', async () => {
      const summary = await run('upload.yml', server.url, by);
      assertClean(summary, 4);
      assert.deepEqual(server.seen.events, { upload: 8 });
      assert.equal(operation(summary, 'emit upload').count, 8);
    });

    test('an acknowledgement that never comes is counted at its time limit', async () => {
      const summary = await run('never.yml', server.url, by);
      assert.deepEqual(errorCounts(summary), { ack_timeout: 4 });
      assert.equal(operation(summary, 'emit add').failed, 0);
      assert.equal(operation(summary, 'emit never').failed, 4);
      assert.ok(operation(summary, 'emit never').response_ms.min >= 999, 'recorded at the limit of 1 s');
      assert.equal(summary.code, 1);
    });

    test('a namespace that refuses a user is an outcome with its own name', async () => {
      const summary = await run('refused.yml', server.url, by);
      assert.deepEqual(errorCounts(summary), { namespace_refused: 3 });
      assert.equal(summary.users.failed, 3);
      assert.match(summary.errors[0].example, /unauthorized/);
    });

    test('a session that the server ends is an outcome, not a hang', async () => {
      const summary = await run('kicked.yml', server.url, by);
      assert.equal(summary.users.failed, 3);
      assert.equal(summary.users.completed, 0);
      assert.notDeepEqual(summary.errors, []);
    });
  });
}

describe("the server's pings", { timeout: 120_000 }, () => {
  for (const [way, transports] of Object.entries(WAYS)) {
    test(`are answered by ${way}`, async () => {
      const server = await startSocketio({ pingInterval: 400, pingTimeout: 400 });
      try {
        assertClean(await run('long.yml', server.url, { config: { socketio: { transports } } }), 3);
      } finally {
        await server.close();
      }
    });
  }
});
