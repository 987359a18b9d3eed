// Engine.IO 3, which clients of Socket.IO 1 and 2 speak, byte by byte against our service and the reference implementation.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Frames } from '../support/raw.mjs';
import { within } from '../support/wait.mjs';
import { INTERVAL_3_MS, TIMEOUT_3_MS } from './limits.mjs';
import { TARGETS_3 } from './targets.mjs';

const TEXT = 'text/plain; charset=UTF-8';
const BINARY = 'application/octet-stream';
const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));

/** One request: its status, content type and body. */
function request(url, { method = 'GET', type, body } = {}) {
  return within(5000, `the answer to ${method} ${url}`, async (signal) => {
    const response = await fetch(url, { method, body, signal, headers: type ? { 'content-type': type } : {} });
    return { status: response.status, type: response.headers.get('content-type'), body: Buffer.from(await response.arrayBuffer()) };
  });
}

/** The packets of a text body, each behind its length in UTF-16 units: what a string of JavaScript counts. */
function packets(body) {
  const found = [];
  for (let rest = body.toString(); rest !== ''; ) {
    const colon = rest.indexOf(':');
    const end = colon + 1 + Number(rest.slice(0, colon));
    found.push(rest.slice(colon + 1, end));
    rest = rest.slice(end);
  }
  return found;
}

// What is posted, with its type, and what a poll then brings: to a client that takes binary bodies, and to one that does not.
const ECHOES = [
  ['text', TEXT, '6:4hello', [TEXT, '6:4hello'], [TEXT, '6:4hello']],
  ['text outside of ASCII', TEXT, '4:4소나기3:4🌧', [TEXT, '4:4소나기3:4🌧'], [TEXT, '4:4소나기3:4🌧']],
  ['binary in base64', TEXT, '10:b4AQIDBA==', [BINARY, bytes([1, 5, 255, 4, 1, 2, 3, 4])], [TEXT, '10:b4AQIDBA==']],
  ['binary', BINARY, bytes([1, 5, 255, 4, 1, 2, 3, 254]), [BINARY, bytes([1, 5, 255, 4, 1, 2, 3, 254])], [TEXT, '10:b4AQID/g==']],
  ['text in a binary body', BINARY, bytes([0, 6, 255], '4hello'), [TEXT, '6:4hello'], [TEXT, '6:4hello']],
  ['a length of two digits', BINARY, bytes([0, 1, 2, 255], '4hello hello'), [TEXT, '12:4hello hello'], [TEXT, '12:4hello hello']],
];

for (const [name, start] of Object.entries(TARGETS_3)) {
  describe(`Engine.IO 3: ${name}`, { timeout: 120_000 }, () => {
    let target;
    const open = [];
    before(async () => (target = await start()));
    after(async () => {
      for (const frames of open) frames.close();
      await target?.stop();
    });

    const polling = (query) => `${target.origin}/engine.io/?EIO=3&transport=polling${query}`;
    const handshake = (packet) => (assert.equal(packet[0], '0'), JSON.parse(packet.slice(1)));

    /** The URL of a polled session's requests. */
    async function session(query = '') {
      const { body } = await request(polling(query));
      return `${polling(query)}&sid=${handshake(packets(body)[0]).sid}`;
    }

    async function socket(query = '') {
      const frames = new Frames(`${target.origin.replace('http', 'ws')}/engine.io/?EIO=3&transport=websocket${query}`);
      open.push(frames);
      const first = await frames.next();
      return { frames, handshake: handshake(first) };
    }

    test('the handshake', async () => {
      const { status, type, body } = await request(polling(''));
      assert.deepEqual([status, type], [200, TEXT]);
      for (const [found, upgrades] of [
        [handshake(packets(body)[0]), ['websocket']],
        [(await socket()).handshake, []],
      ]) {
        assert.equal(typeof found.sid, 'string');
        assert.deepEqual([found.upgrades, found.pingInterval, found.pingTimeout], [upgrades, INTERVAL_3_MS, TIMEOUT_3_MS]);
      }
    });

    for (const [what, type, body, binary, text] of ECHOES) {
      for (const [query, [kind, expected]] of [['', binary], ['&b64=1', text]]) {
        test(`${what} comes back${query && ' to who takes only text'}`, async () => {
          const url = await session(query);
          assert.equal((await request(url, { method: 'POST', type, body })).body.toString(), 'ok');
          const polled = await request(url);
          assert.deepEqual([polled.status, polled.type], [200, kind]);
          assert.deepEqual(polled.body, Buffer.from(expected));
        });
      }
    }

    test('by script and form', async () => {
      const opened = await request(polling('&j=7&b64=1'));
      // The reference implementation calls its scripts text/plain.
      assert.match(opened.type, /^text\/(javascript|plain); charset=UTF-8$/);
      const script = opened.body.toString();
      assert.match(script, /^___eio\[7\]\(".*"\);$/);
      const { sid } = handshake(packets(JSON.parse(script.slice(10, -2)))[0]);
      const url = `${polling('&j=7&b64=1')}&sid=${sid}`;
      // What a client writes for `4a"\n`, a line end and ` &`.
      const packet = '4a"\\n\n &';
      const form = new URLSearchParams({ d: `8:${packet.replaceAll('\\n', '\\\n').replaceAll('\n', '\\n')}` });
      const posted = await request(url, { method: 'POST', type: 'application/x-www-form-urlencoded', body: form.toString() });
      assert.deepEqual([posted.status, posted.type, posted.body.toString()], [200, 'text/html', 'ok']);
      const polled = (await request(url)).body.toString();
      assert.deepEqual(packets(JSON.parse(polled.slice(10, -2))), [packet]);
    });

    test('the client pings, and is answered', async () => {
      const url = await session();
      await request(url, { method: 'POST', type: TEXT, body: '1:2' });
      assert.deepEqual(packets((await request(url)).body), ['3']);
      const { frames } = await socket();
      frames.send('2');
      assert.equal(await frames.next(), '3');
    });

    test('a client that does not ping is dead', async () => {
      const { frames } = await socket();
      const opened = Date.now();
      const seen = await frames.ended({ alive: false });
      assert.ok(!seen.includes('2'), 'nobody pinged it');
      assert.ok(Date.now() - opened > (INTERVAL_3_MS + TIMEOUT_3_MS) * 0.8);
    });

    test('binary frames have their type before them', async () => {
      const { frames } = await socket();
      frames.send(Buffer.from([4, 1, 2, 3]));
      assert.deepEqual(await frames.next(), Buffer.from([4, 1, 2, 3]));
      const text = (await socket('&b64=1')).frames;
      text.send('b4AQID');
      assert.equal(await text.next(), 'b4AQID');
    });

    test('a session moves from polling to WebSocket', async () => {
      const url = await session();
      const frames = new Frames(url.replace(/^http/, 'ws').replace('transport=polling', 'transport=websocket'));
      open.push(frames);
      await frames.opened();
      const polled = request(url);
      frames.send('2probe');
      assert.equal(await frames.next(), '3probe');
      assert.deepEqual(packets((await polled).body), ['6']);
      frames.send('5', '4hello');
      assert.equal(await frames.next(), '4hello');
    });
  });
}
