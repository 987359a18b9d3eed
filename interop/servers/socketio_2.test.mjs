// Our engine against the official server of Socket.IO 2 (Engine.IO 3), over each way it can connect.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { assertAllDelivered, assertClean, errorCounts, operation, run } from '../support/run.mjs';
import { startSocketio2, TOKEN } from './socketio_2_server.mjs';

const WAYS = { websocket: ['websocket'], polling: ['polling'], 'polling upgraded to websocket': ['polling', 'websocket'] };
const by = (transports, token = TOKEN) => ({ config: { socketio: { transports, query: { token } } } });

for (const [way, transports] of Object.entries(WAYS)) {
  describe(`by ${way}`, { timeout: 120_000 }, () => {
    let server;
    beforeEach(async () => {
      await server?.close();
      server = await startSocketio2();
    });
    after(() => server.close());

    test('a room of ten users owes and delivers every copy', async () => {
      const summary = await run('socketio-2-room.yml', server.url, by(transports));
      assertClean(summary, 10);
      assertAllDelivered(summary, 10 * 5 * 10);
      assert.equal(operation(summary, 'emit sendMessage').count, 50);
      assert.deepEqual(server.seen.events, { joinRoom: 10, sendMessage: 50 });
      assert.deepEqual(server.seen.transports, { [transports[0]]: 10 });
      assert.equal(server.seen.upgrades, transports.length > 1 ? 10 : 0);
    });

    test('a namespace of its own is asked for with the query', async () => {
      const summary = await run('socketio-2-namespace.yml', server.url, by(transports));
      assertClean(summary, 5);
      assertAllDelivered(summary, 5 * 5);
      assert.deepEqual(server.seen.events, { joinRoom: 5, sendMessage: 5 });
    });

    test('events, acknowledgements and their binary parts are understood both ways', async () => {
      const summary = await run('socketio-2-answers.yml', server.url, by(transports));
      assertClean(summary, 4);
      assert.deepEqual(server.seen.events, { add: 8, draw: 12, upload: 4 });
    });

    test('a namespace that refuses a user is an outcome with its own name', async () => {
      const summary = await run('socketio-2-room.yml', server.url, by(transports, 'a wrong one'));
      assert.deepEqual(errorCounts(summary), { namespace_refused: 10 });
      assert.match(summary.errors[0].example, /unauthorized/);
    });

    test('a session that the server ends is an outcome, not a hang', async () => {
      const summary = await run('socketio-2-kicked.yml', server.url, by(transports));
      assert.equal(summary.users.failed, 3);
      assert.notDeepEqual(summary.errors, []);
    });
  });
}

describe('the heartbeat is ours', { timeout: 120_000 }, () => {
  for (const [way, transports] of Object.entries(WAYS)) {
    test(`and keeps a session by ${way}`, async () => {
      const server = await startSocketio2({ pingInterval: 400, pingTimeout: 400 });
      try {
        assertClean(await run('socketio-2-long.yml', server.url, by(transports)), 3);
      } finally {
        await server.close();
      }
    });
  }
});
