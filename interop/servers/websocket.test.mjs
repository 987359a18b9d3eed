// Our engine against servers on the `ws` package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAllDelivered, assertClean, errorCounts, run } from '../support/run.mjs';
import { broadcast, broadcastInPieces, echo, startWebsocket } from './websocket_server.mjs';

const LIMIT = { timeout: 60_000 };

async function against(paths, options, script, overrides) {
  const server = await startWebsocket(paths, options);
  try {
    return await run(script, server.url, overrides);
  } finally {
    await server.close();
  }
}

test('a room of ten users owes and delivers every copy', LIMIT, async () => {
  const summary = await against({ '/room': broadcast }, {}, 'ws-room.yml');
  assertClean(summary, 10);
  assertAllDelivered(summary, 10 * 5 * 10);
  assert.equal(summary.traffic.websocket_sent, 50);
  assert.equal(summary.traffic.websocket_received, 500);
});

test('messages in several frames with pings between them are whole messages', LIMIT, async () => {
  const summary = await against({ '/room': broadcastInPieces }, {}, 'ws-room.yml');
  assertClean(summary, 10);
  assertAllDelivered(summary, 10 * 5 * 10);
});

test('messages sent as binary carry their stamps too', LIMIT, async () => {
  const asBinary = (socket, _, room) => socket.on('message', (data) => room.forEach((member) => member.send(data, { binary: true })));
  const summary = await against({ '/room': asBinary }, {}, 'ws-room.yml');
  assertClean(summary, 10);
  assertAllDelivered(summary, 10 * 5 * 10);
});

test('a sender that only hears itself owes the others their copies', LIMIT, async () => {
  const summary = await against({ '/room': echo }, {}, 'ws-room.yml');
  const { owed, delivered, lost } = summary.delivery;
  assert.deepEqual({ owed, delivered, lost }, { owed: 500, delivered: 50, lost: 450 });
  assert.equal(summary.verdict.result, 'fail');
  assert.equal(summary.code, 1);
});

test('a server that doubles every message is found out', LIMIT, async () => {
  const twice = (socket, _, room) => socket.on('message', (data) => room.forEach((member) => (member.send(`${data}`), member.send(`${data}`))));
  const { delivery, verdict } = await against({ '/room': twice }, {}, 'ws-room.yml');
  assert.deepEqual([delivery.owed, delivery.delivered, delivery.duplicate, delivery.lost], [500, 500, 500, 0]);
  assert.equal(verdict.result, 'fail');
});

test('headers and subprotocols reach the server, and it may choose among them', LIMIT, async () => {
  const seen = [];
  const strict = (socket, request) => {
    seen.push([request.headers['x-from'], socket.protocol]);
    socket.on('message', (data) => seen.push(data.length));
  };
  const handleProtocols = (offered) => (offered.has('chat.v1') ? 'chat.v1' : false);
  assertClean(await against({ '/strict': strict }, { handleProtocols }, 'ws-options.yml'), 2);
  assert.deepEqual(seen.filter(Array.isArray), [['sonagi', 'chat.v1'], ['sonagi', 'chat.v1']]);
  assert.deepEqual(seen.filter(Number.isInteger), [200_000, 200_000]);
});

test("the server's close code is the outcome's name", LIMIT, async () => {
  const close = (socket) => socket.on('message', () => socket.close(4001, 'not today'));
  const summary = await against({ '/close': close }, {}, 'ws-closed.yml');
  assert.equal(summary.users.completed, 0);
  assert.equal(summary.users.failed, 3);
  assert.match(Object.keys(errorCounts(summary)).join(), /4001/);
});

test('a server that cuts the connection is an outcome of its own', LIMIT, async () => {
  const cut = (socket) => socket.on('message', () => socket.terminate());
  const summary = await against({ '/close': cut }, {}, 'ws-closed.yml');
  assert.equal(summary.users.failed, 3);
  assert.match(Object.keys(errorCounts(summary)).join(), /1006|reset|closed/);
});

test('an upgrade that is refused names the status', LIMIT, async () => {
  const verifyClient = (_, answer) => answer(false, 403, 'no');
  const summary = await against({}, { verifyClient }, 'ws-room.yml');
  assert.equal(summary.users.failed, 10);
  assert.match(Object.keys(errorCounts(summary)).join(), /403/);
});
