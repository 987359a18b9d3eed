// Every transport beside every other: what one party sends, the other hears once, in order and with its number, however
// often its connection breaks.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startProxy } from '../support/proxy.mjs';
import { startService } from '../support/service.mjs';
import { longpoll, poll } from './parties/polls.mjs';
import { socketio } from './parties/socketio.mjs';
import { sse } from './parties/sse.mjs';
import { sockjs, stomp } from './parties/stomp.mjs';
import { websocket } from './parties/websocket.mjs';

const TRANSPORTS = { poll, longpoll, sse, websocket, stomp, 'stomp over sockjs': sockjs, socketio };
const MESSAGES = 20;

/**
 * Bytes that connections get before they break while the listener is away: nothing it could use, a part of an answer's head,
 * and on most transports the beginning of a message, on none the end of it.
 */
const CUTS = [1, 100, 400];

/** More bytes than characters: a cut can fall within one. */
const TEXT = '비가 온다 '.repeat(16);

/** A conversation in a group of its own; the listener's connections break again and again. */
async function converse(service, group, speaks, listens) {
  const proxy = await startProxy(service.url);
  const opening = [speaks(service.url, group), listens(proxy.url, group)];
  try {
    const [speaker, listener] = await Promise.all(opening);
    await speakThroughCuts(speaker, listener, proxy);
    return listener;
  } finally {
    for (const { value: party } of await Promise.allSettled(opening)) await party?.close();
    await proxy.stop();
  }
}

async function speakThroughCuts(speaker, listener, proxy) {
  const said = [];
  const say = async (count) => {
    for (let n = 0; n < count; n += 1) {
      const message = { seq: said.length + 1, content: { n: said.length + 1, text: TEXT } };
      const seq = (await speaker.send(message.content)) ?? message.seq;
      assert.equal(seq, message.seq);
      said.push(message);
    }
  };
  const part = MESSAGES / (CUTS.length + 1);
  await say(part);
  await listener.received.first(1);
  for (const bytes of CUTS) {
    const breaks = proxy.broken.items.length;
    proxy.cutAfter(bytes);
    proxy.cut();
    await say(part);
    assert.equal((await proxy.broken.first(breaks + 1)).at(-1), bytes);
    const has = listener.received.items.length;
    assert.ok(has < said.length, 'it has missed some');
    // It comes back, and is cut off again while there is more to come.
    proxy.cutAfter(Infinity);
    await listener.received.first(has + 1);
  }
  await Promise.all([speaker, listener].map((party) => party.received.first(said.length)));
  // Sent behind everything else, so whatever would come twice has come when it has.
  await say(1);
  for (const party of [speaker, listener]) {
    await party.received.first(said.length);
    assert.deepEqual(party.received.items, said);
  }
}

describe('each transport hears each other once and in order, whatever breaks', { concurrency: 7, timeout: 120_000 }, () => {
  let service;
  before(async () => (service = await startService()));
  after(() => service?.stop());

  for (const [to, listens] of Object.entries(TRANSPORTS)) {
    for (const [from, speaks] of Object.entries(TRANSPORTS)) {
      test(`${from} → ${to}`, () => converse(service, `${from} to ${to}`.replaceAll(' ', '-'), speaks, listens));
    }
  }
});

describe('a Socket.IO session that is recovered hears each of them', { concurrency: 7, timeout: 120_000 }, () => {
  let service;
  before(async () => (service = await startService('--recovery', '60s')));
  after(() => service?.stop());

  for (const [from, speaks] of Object.entries(TRANSPORTS)) {
    test(`${from} → socketio, recovered`, async () => {
      const { recoveries } = await converse(service, `recovered-${from.replaceAll(' ', '-')}`, speaks, socketio);
      assert.ok(recoveries > 0, 'its session was recovered');
    });
  }
});
