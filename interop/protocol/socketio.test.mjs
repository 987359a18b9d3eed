// Socket.IO 5, rule by rule, against our service and the reference implementation.
// Chapters follow the protocol's document: connection to a namespace, disconnection, events, acknowledgements, violations.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Frames, Polling } from '../support/raw.mjs';
import { OURS, TARGETS } from './targets.mjs';

const PATH = '/socket.io/';
const attachment = (num) => ({ _placeholder: true, num });

/** One session, spoken to in Socket.IO packets by either transport. */
class ByWebsocket {
  static async open(origin) {
    return new ByWebsocket(await Frames.open(origin, PATH));
  }
  constructor(frames) {
    this.frames = frames;
  }
  send(...packets) {
    this.frames.send(...packets);
  }
  take(count) {
    return this.frames.take(count);
  }
  ended(options) {
    return this.frames.ended(options);
  }
  close() {
    this.frames.close();
  }
}

class ByPolling {
  #left = [];
  static async open(origin) {
    return new ByPolling(await Polling.open(origin, PATH));
  }
  constructor(session) {
    this.session = session;
  }
  send(...packets) {
    const encoded = packets.map((packet) => (Buffer.isBuffer(packet) ? `b${packet.toString('base64')}` : packet));
    return this.session.push(...encoded);
  }
  async take(count) {
    while (this.#left.length < count) this.#left.push(...(await this.session.packets(1)));
    return this.#left.splice(0, count).map((packet) => (packet.startsWith('b') ? Buffer.from(packet.slice(1), 'base64') : packet));
  }
  ended(options) {
    return this.session.ended(options);
  }
  close() {}
}

const BYTES = Buffer.from([1, 2, 3]);
const MORE = Buffer.from([4, 5, 6]);

// What is sent in the main namespace, and what comes back.
const CONVERSATIONS = [
  ['an event', ['42["message",1,"2",{"3":[true]}]'], ['42["message-back",1,"2",{"3":[true]}]']],
  ['an event without arguments', ['42["message"]'], ['42["message-back"]']],
  ['an event with null, numbers and text outside of ASCII', ['42["message",null,1.5,-0.25,"소나기 \\" ☔"]'], ['42["message-back",null,1.5,-0.25,"소나기 \\" ☔"]']],
  [
    'an event with attachments',
    [`452-["message",${JSON.stringify(attachment(0))},${JSON.stringify(attachment(1))}]`, BYTES, MORE],
    [`452-["message-back",${JSON.stringify(attachment(0))},${JSON.stringify(attachment(1))}]`, BYTES, MORE],
  ],
  [
    'an event with a nested attachment',
    [`451-["message",{"a":[${JSON.stringify(attachment(0))}]}]`, BYTES],
    [`451-["message-back",{"a":[${JSON.stringify(attachment(0))}]}]`, BYTES],
  ],
  ['an acknowledgement', ['42456["message-with-ack",1,"2",{"3":[false]}]'], ['43456[1,"2",{"3":[false]}]']],
  ['an acknowledgement numbered 0', ['420["message-with-ack"]'], ['430[]']],
  [
    'an acknowledgement with attachments',
    [`452-789["message-with-ack",${JSON.stringify(attachment(0))},${JSON.stringify(attachment(1))}]`, BYTES, MORE],
    [`462-789[${JSON.stringify(attachment(0))},${JSON.stringify(attachment(1))}]`, BYTES, MORE],
  ],
  ['two events in order', ['42["message",1]', '42["message",2]'], ['42["message-back",1]', '42["message-back",2]']],
];

// Packets after which the server ends the whole session.
const VIOLATIONS = [
  ['a packet type that is not there', '4abc'],
  ['a packet type beyond the last', '47["message"]'],
  ['an event whose payload is an object', '42{}'],
  ['an event whose payload is not JSON', '42["message"'],
  ['an empty list for an event', '42[]'],
  ['an event whose name is an object', '42[{}]'],
  ['an acknowledgement that is not a number', '42abc["message-with-ack",1]'],
  ['a CONNECT whose payload is not an object', '40"text"'],
  ['a DISCONNECT with a payload', '41{}'],
  ['a CONNECT_ERROR, which only servers send', '44{"message":"no"}'],
];

for (const [name, start] of Object.entries(TARGETS)) {
  describe(`Socket.IO 5: ${name}`, { timeout: 120_000 }, () => {
    let target;
    const open = [];
    before(async () => (target = await start()));
    after(async () => {
      for (const session of open) session.close();
      await target?.stop();
    });

    for (const By of [ByWebsocket, ByPolling]) {
      describe(By === ByPolling ? 'by polling' : 'by WebSocket', () => {
        const session = async () => open.push(await By.open(target.origin)) && open.at(-1);

        /** A session in the main namespace, its `auth` event read. */
        async function connected() {
          const one = await session();
          await one.send('40');
          const [reply, auth] = await one.take(2);
          assert.match(reply, /^40\{"sid":"[^"]+"\}$/);
          assert.equal(auth, '42["auth",{}]');
          return one;
        }

        describe('connection', () => {
          test('to the main namespace', connected);

          test('to the main namespace with a payload', async () => {
            const one = await session();
            await one.send('40{"token":"123"}');
            const [reply, auth] = await one.take(2);
            assert.match(reply, /^40\{"sid":"[^"]+"\}$/);
            assert.equal(auth, '42["auth",{"token":"123"}]');
          });

          test('to a namespace of its own', async () => {
            const one = await session();
            await one.send('40/custom,');
            const [reply, auth] = await one.take(2);
            assert.match(reply, /^40\/custom,\{"sid":"[^"]+"\}$/);
            assert.equal(auth, '42/custom,["auth",{}]');
          });

          test('to a namespace of its own with a payload', async () => {
            const one = await session();
            await one.send('40/custom,{"token":"abc"}');
            const [reply, auth] = await one.take(2);
            assert.match(reply, /^40\/custom,\{"sid":"[^"]+"\}$/);
            assert.equal(auth, '42/custom,["auth",{"token":"abc"}]');
          });

          test('to two namespaces at once, with an identifier each', async () => {
            const one = await connected();
            await one.send('40/custom,');
            const [reply] = await one.take(2);
            await one.send('42["message","main"]');
            assert.deepEqual(await one.take(1), ['42["message-back","main"]']);
            assert.match(reply, /^40\/custom,/);
          });

          test('to a namespace that is not there is refused, and the session lives on', async () => {
            const one = await session();
            await one.send('40/random');
            assert.deepEqual(await one.take(1), ['44/random,{"message":"Invalid namespace"}']);
            await one.send('40');
            assert.match((await one.take(1))[0], /^40\{/);
          });

          test('that never comes ends the session', async () => {
            await (await session()).ended();
          });
        });

        describe('disconnection', () => {
          test('from the main namespace leaves the others', async () => {
            const one = await connected();
            await one.send('40/custom,');
            await one.take(2);
            await one.send('41');
            // An answer that must come after the disconnection was understood.
            await one.send('40/random');
            assert.match((await one.take(1))[0], /^44\/random,/);
            await one.send('40');
            assert.match((await one.take(1))[0], /^40\{/, 'it may be joined again on the same session');
          });

          test('from a namespace of its own leaves the main one', async () => {
            const one = await connected();
            await one.send('40/custom,');
            await one.take(2);
            await one.send('41/custom,');
            await one.send('42["message","still here"]');
            assert.deepEqual(await one.take(1), ['42["message-back","still here"]']);
          });

          test('by closing the transport ends the session', async () => {
            const one = await connected();
            await one.send('1');
            // The reference implementation lets a WebSocket session die of silence.
            await one.ended({ alive: name === OURS });
          });
        });

        describe('conversation', () => {
          for (const [what, sent, received] of CONVERSATIONS) {
            test(what, async () => {
              const one = await connected();
              await one.send(...sent);
              assert.deepEqual(await one.take(received.length), received);
            });
          }
        });

        describe('violation', () => {
          for (const [what, packet] of VIOLATIONS) {
            test(what, async () => {
              const one = await connected();
              await one.send(packet);
              await one.ended();
            });
          }

          test('a CONNECT that is not readable', async () => {
            const one = await session();
            await one.send('4abc');
            await one.ended();
          });

          test('an event before any CONNECT', async () => {
            const one = await session();
            await one.send('42["message",1]');
            await one.ended();
          });

          test('an attachment nobody announced', async () => {
            const one = await connected();
            await one.send(BYTES);
            await one.ended();
          });

          test('text where an attachment was announced', async () => {
            const one = await connected();
            await one.send(`451-["message",${JSON.stringify(attachment(0))}]`, '42["message",1]');
            await one.ended();
          });
        });
      });
    }
  });
}
