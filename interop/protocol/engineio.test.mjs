// Engine.IO 4, rule by rule, against our service and the reference implementation.
// Chapters follow the protocol's document: handshake, messages, heartbeat, close, upgrade; then limits.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Frames, Polling, request } from '../support/raw.mjs';
import { event } from '../support/wait.mjs';
import { INTERVAL_MS, MAX_PAYLOAD, TIMEOUT_MS } from './limits.mjs';
import { OURS, TARGETS } from './targets.mjs';

const PATH = '/engine.io/';

// Method, query, and the `code` and `message` of the 400 it is answered with.
const REFUSED_HANDSHAKES = [
  ['GET', 'transport=polling', 5, 'Unsupported protocol version'],
  ['GET', 'EIO=abc&transport=polling', 5, 'Unsupported protocol version'],
  ['GET', 'EIO=2&transport=polling', 5, 'Unsupported protocol version'],
  ['GET', 'EIO=4', 0, 'Transport unknown'],
  ['GET', 'EIO=4&transport=carrier-pigeon', 0, 'Transport unknown'],
  ['POST', 'EIO=4&transport=polling', 2, 'Bad handshake method'],
  ['PUT', 'EIO=4&transport=polling', 2, 'Bad handshake method'],
  ['GET', 'EIO=4&transport=polling&sid=nobody', 1, 'Session ID unknown'],
  ['POST', 'EIO=4&transport=polling&sid=nobody', 1, 'Session ID unknown'],
  ['GET', 'EIO=4&transport=websocket', 3, 'Bad request'],
];

// Queries with which no WebSocket session is opened.
const REFUSED_UPGRADES = ['transport=websocket', 'EIO=abc&transport=websocket', 'EIO=4', 'EIO=4&transport=abc', 'EIO=4&transport=websocket&sid=nobody'];

// Payloads sent in one POST, and the packets they come back as.
const PAYLOADS = [
  ['one packet', ['4hello'], ['4hello']],
  ['several packets', ['4test1', '4test2', '4test3'], ['4test1', '4test2', '4test3']],
  ['text and binary', ['4hello', 'bAQIDBA=='], ['4hello', 'bAQIDBA==']],
  ['an empty message', ['4'], ['4']],
  ['characters outside of ASCII', ['4소나기 ☔ \u{1f327}'], ['4소나기 ☔ \u{1f327}']],
  ['empty binary', ['b', '4after'], ['b', '4after']],
];

for (const [name, start] of Object.entries(TARGETS)) {
  describe(`Engine.IO 4: ${name}`, { timeout: 120_000 }, () => {
    let target;
    const open = [];
    const websocket = async () => open.push(await Frames.open(target.origin, PATH)) && open.at(-1);
    const raw = (url) => open.push(new Frames(url)) && open.at(-1);
    before(async () => (target = await start()));
    after(async () => {
      for (const frames of open) frames.close();
      await target?.stop();
    });

    describe('handshake', () => {
      const assertHandshake = (handshake, upgrades) => {
        const { sid, ...rest } = handshake;
        assert.equal(typeof sid, 'string');
        assert.ok(sid.length >= 16, 'an identifier that cannot be guessed');
        assert.deepEqual(rest, { upgrades, pingInterval: INTERVAL_MS, pingTimeout: TIMEOUT_MS, maxPayload: MAX_PAYLOAD });
      };

      test('by polling opens a session that may be upgraded', async () => {
        assertHandshake((await Polling.open(target.origin, PATH)).handshake, ['websocket']);
      });

      test('by WebSocket opens a session that is what it is', async () => {
        assertHandshake((await websocket()).handshake, []);
      });

      test('gives every session an identifier of its own', async () => {
        const sessions = await Promise.all([1, 2, 3].map(() => Polling.open(target.origin, PATH)));
        assert.equal(new Set(sessions.map(({ handshake }) => handshake.sid)).size, 3);
      });

      for (const [method, query, code, message] of REFUSED_HANDSHAKES) {
        test(`${method} ?${query} is refused: ${message}`, async () => {
          const { status, body } = await request(`${target.origin}${PATH}?${query}`, { method });
          assert.equal(status, 400);
          assert.deepEqual(JSON.parse(body), { code, message });
        });
      }

      for (const query of REFUSED_UPGRADES) {
        test(`a WebSocket to ?${query} is refused`, async () => {
          const frames = raw(`${target.origin.replace(/^http/, 'ws')}${PATH}?${query}`);
          assert.deepEqual(await frames.ended(), []);
        });
      }
    });

    describe('messages', () => {
      for (const [what, sent, received] of PAYLOADS) {
        test(`a payload of ${what} is taken and given back by polling`, async () => {
          const session = await Polling.open(target.origin, PATH);
          assert.deepEqual(await session.push(...sent), { status: 200, body: 'ok' });
          assert.deepEqual(await session.packets(received.length), received);
        });
      }

      test('text is carried as it is by WebSocket', async () => {
        const frames = await websocket();
        frames.send('4hello', '4', '4소나기');
        assert.deepEqual(await frames.take(3), ['4hello', '4', '4소나기']);
      });

      test('binary is carried without a type by WebSocket', async () => {
        const frames = await websocket();
        frames.send(Buffer.from([1, 2, 3, 4]), Buffer.from([52]));
        assert.deepEqual(await frames.take(2), [Buffer.from([1, 2, 3, 4]), Buffer.from([52])]);
      });

      for (const packet of ['abc', '', '9', 'x']) {
        test(`a packet ${JSON.stringify(packet)} ends a polling session`, async () => {
          const session = await Polling.open(target.origin, PATH);
          await session.push(packet).catch(() => {});
          await session.ended();
        });

        test(`a packet ${JSON.stringify(packet)} ends a WebSocket session`, async () => {
          const frames = await websocket();
          frames.send(packet);
          await frames.ended();
        });
      }

      test('a second poll while one is held ends the session', async () => {
        const session = await Polling.open(target.origin, PATH);
        const polls = await Promise.all([session.pull(), session.pull()]);
        assert.ok(polls.some(({ status }) => status === 400), 'one of the two is refused');
        await session.ended();
      });
    });

    describe('heartbeat', () => {
      test('a polling session that answers its pings lives on', async () => {
        const session = await Polling.open(target.origin, PATH);
        for (let beat = 0; beat < 4; beat += 1) {
          assert.deepEqual((await session.pull()).packets, ['2']);
          assert.equal((await session.push('3')).status, 200);
        }
      });

      test('a WebSocket session that answers its pings lives on', async () => {
        const frames = await websocket();
        for (let beat = 0; beat < 4; beat += 1) {
          assert.equal(await frames.next({ pings: true }), '2');
          frames.send('3');
        }
      });

      test('a polling session that leaves a ping unanswered ends', async () => {
        const session = await Polling.open(target.origin, PATH);
        assert.equal((await session.ended({ alive: false }))[0], '2');
      });

      test('a WebSocket session that leaves a ping unanswered ends', async () => {
        const frames = await websocket();
        assert.equal((await frames.ended({ alive: false }))[1], '2');
      });

      test('a ping from the client ends a polling session', async () => {
        const session = await Polling.open(target.origin, PATH);
        await session.push('2').catch(() => {});
        await session.ended();
      });

      test('a ping from the client ends a WebSocket session', async () => {
        const frames = await websocket();
        frames.send('2');
        assert.equal((await frames.ended()).includes('3'), false, 'it was not answered');
      });
    });

    describe('close', () => {
      test('a polling session is closed by its client, and the held poll is answered', async () => {
        // The two requests travel on two connections: where the close overtook the poll, the reference's poll finds no session.
        for (let attempt = 0; ; attempt += 1) {
          assert.ok(attempt < 20, 'a close overtook its poll twenty times in a row');
          const session = await Polling.open(target.origin, PATH);
          const [held, posted] = await Promise.all([session.pull(), session.push('1')]);
          assert.deepEqual(posted, { status: 200, body: 'ok' });
          assert.equal((await session.pull()).status, 400);
          if (held.status === 200 || name === OURS) return assert.deepEqual(held.packets, ['6']);
        }
      });

      test('a WebSocket session is closed by its client', async () => {
        const frames = await websocket();
        frames.send('1');
        // The reference implementation lets such a session die of silence.
        await frames.ended({ alive: name === OURS });
      });
    });

    describe('upgrade', () => {
      /** A polling session carried on by a WebSocket. */
      async function upgraded() {
        const session = await Polling.open(target.origin, PATH);
        const frames = raw(session.websocketUrl);
        await frames.opened();
        frames.send('2probe');
        assert.equal(await frames.next(), '3probe');
        frames.send('5');
        return { session, frames };
      }

      test('a polling session goes on by WebSocket', async () => {
        const { frames } = await upgraded();
        frames.send('4hello');
        assert.equal(await frames.next(), '4hello');
      });

      test('a poll that is held is answered with a noop while the upgrade is probed', async () => {
        const session = await Polling.open(target.origin, PATH);
        const held = session.pull();
        const frames = raw(session.websocketUrl);
        await frames.opened();
        frames.send('2probe');
        assert.equal(await frames.next(), '3probe');
        assert.deepEqual((await held).packets, ['6']);
        frames.send('5', '4after');
        assert.equal(await frames.next(), '4after');
      });

      test('what was sent by polling before is received by WebSocket after', async () => {
        const session = await Polling.open(target.origin, PATH);
        const frames = raw(session.websocketUrl);
        await frames.opened();
        frames.send('2probe');
        assert.equal(await frames.next(), '3probe');
        assert.equal((await session.push('4one', '4two')).status, 200);
        const polled = (await session.pull()).packets.filter((packet) => packet.startsWith('4'));
        frames.send('5', '4three');
        const received = [...polled, ...(await frames.take(3 - polled.length))];
        assert.deepEqual(received, ['4one', '4two', '4three']);
      });

      test('polls of a session that went on by WebSocket are refused, and it lives on', async () => {
        const { session, frames } = await upgraded();
        frames.send('4hello');
        assert.equal(await frames.next(), '4hello');
        assert.equal((await session.pull()).status, 400);
        frames.send('4still here');
        assert.equal(await frames.next(), '4still here');
      });

      test('a second WebSocket of an upgraded session is closed, and the first lives on', async () => {
        const { session, frames } = await upgraded();
        frames.send('4hello');
        assert.equal(await frames.next(), '4hello');
        const second = raw(session.websocketUrl);
        await second.opened();
        assert.deepEqual(await second.ended(), []);
        frames.send('4still here');
        assert.equal(await frames.next(), '4still here');
      });

      test('a WebSocket that begins with anything but the probe does not become the session', async () => {
        const session = await Polling.open(target.origin, PATH);
        const frames = raw(session.websocketUrl);
        await frames.opened();
        frames.send('4hello');
        await frames.ended();
        assert.deepEqual(await session.push('4by polling'), { status: 200, body: 'ok' });
        assert.deepEqual(await session.packets(1), ['4by polling']);
      });
    });

    describe('limits', () => {
      test('a payload over the limit is answered 413', async () => {
        const session = await Polling.open(target.origin, PATH);
        assert.equal((await session.push(`4${'x'.repeat(MAX_PAYLOAD)}`)).status, 413);
      });

      test('a WebSocket message over the limit closes with 1009', async () => {
        const frames = await websocket();
        frames.send(`4${'x'.repeat(MAX_PAYLOAD)}`);
        assert.equal((await event(frames.socket, 'close'))[0], 1009);
      });

      test('a message just under the limit is carried', async () => {
        const frames = await websocket();
        const large = `4${'x'.repeat(MAX_PAYLOAD - 1)}`;
        frames.send(large);
        assert.equal(await frames.next(), large);
      });
    });
  });
}
