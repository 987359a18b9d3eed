// Official clients, and our own engine, through the nginx that `sonagi serve --print-nginx` configures, to several instances behind it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EventSource } from 'eventsource';
import { io } from 'socket.io-client';
import SockJS from 'sockjs-client';
import { WebSocket } from 'ws';
import { Stack } from '../../experiments/stack/lib/stack.mjs';
import { finish, SONAGI } from '../support/process.mjs';
import { assertClean } from '../support/run.mjs';
import { Service } from '../support/service.mjs';
import { StompPeer } from '../support/stomp.mjs';
import { event, Inbox, within } from '../support/wait.mjs';

const CLIENTS = 9;
const WORDS = Array.from({ length: 10 }, (_, n) => `소나기 ${n}`);

let stack;
const open = [];
before(async () => (stack = await Stack.start()), { timeout: 120_000 });
after(async () => {
  open.forEach((close) => close());
  await stack?.end();
}, { timeout: 60_000 });

/** Says the words by `say`, one after another; each of the inboxes has all of them, once and in order. */
async function conversation(say, inboxes) {
  for (const word of WORDS) await say(word);
  for (const heard of inboxes) assert.deepEqual(await heard.first(WORDS.length), WORDS);
}

async function share(group, content) {
  const answer = await fetch(`${stack.url}/location/sse/share?group=${group}`, { method: 'POST', body: JSON.stringify(content) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
}

/** One value for each client, all at once. */
const each = (make) => Promise.all(Array.from({ length: CLIENTS }, (_, n) => make(n)));

describe('behind nginx', { timeout: 300_000 }, () => {
  for (const transports of [['polling'], ['polling', 'websocket'], ['websocket']]) {
    test(`Socket.IO's client by ${transports.join(' and then ')}`, async () => {
      const group = `socketio-${transports.length}-${transports[0]}`;
      const clients = await each(async () => {
        const client = io(stack.url, { transports, forceNew: true, reconnection: false });
        open.push(() => client.disconnect());
        await event(client, 'connect');
        client.heard = new Inbox();
        client.on('newMessage', ({ content }) => client.heard.push(content));
        assert.equal((await client.timeout(5000).emitWithAck('joinRoom', { roomId: `location:${group}` })).ok, true);
        return client;
      });
      const instances = new Set(clients.map((client) => client.io.engine.id.split('.')[0]));
      assert.deepEqual([...instances].sort(), stack.instances.map((_, at) => String(at + 1)), 'every instance has sessions');
      const [speaker] = clients;
      const say = (content) => speaker.timeout(5000).emitWithAck('sendMessage', { roomId: `location:${group}`, content });
      await conversation(say, clients.map(({ heard }) => heard));
      if (transports.length === 2) {
        const upgraded = () => clients.every((client) => client.io.engine.transport.name === 'websocket');
        await within(10_000, 'the upgrade', async () => {
          while (!upgraded()) await new Promise((resolve) => setTimeout(resolve, 20));
        });
      }
    });
  }

  for (const transport of ['websocket', 'xhr-streaming', 'xhr-polling']) {
    test(`SockJS's client by ${transport}`, async () => {
      const group = `sockjs-${transport}`;
      const clients = await each(async () => {
        const socket = new SockJS(`${stack.url}/location`, null, { transports: transport });
        open.push(() => socket.close());
        const frames = new Inbox();
        socket.onmessage = ({ data }) => frames.push(data);
        await within(10_000, 'open', () => new Promise((resolve) => (socket.onopen = resolve)));
        socket.send('CONNECT\naccept-version:1.2\n\n\0');
        socket.send(`SUBSCRIBE\nid:s\nreceipt:r\ndestination:/sub/location/${group}\n\n\0`);
        const [, receipt] = await frames.first(2);
        assert.match(receipt, /^RECEIPT/);
        return { socket, frames };
      });
      const [{ socket }] = clients;
      for (const word of WORDS) socket.send(`SEND\ndestination:/pub/share/${group}\n\n${JSON.stringify(word)}\0`);
      for (const { frames } of clients) {
        const heard = (await frames.first(2 + WORDS.length)).slice(2);
        assert.deepEqual(heard.map((frame) => frame.match(/"(소나기 \d+)"/)[1]), WORDS);
      }
    });
  }

  test("STOMP's client", async () => {
    const clients = await each(async () => {
      const peer = new StompPeer({ brokerURL: `${stack.url.replace('http', 'ws')}/location` });
      open.push(() => peer.drop());
      await peer.open();
      return { peer, heard: await peer.listen('/sub/location/stomp') };
    });
    for (const word of WORDS) await clients[0].peer.share('stomp', word);
    for (const { heard } of clients) assert.deepEqual((await heard.first(WORDS.length)).map(({ message }) => message.content), WORDS);
  });

  test('event streams arrive as they are said', async () => {
    const clients = await each(async () => {
      const source = new EventSource(`${stack.url}/location/sse/connect?group=sse`);
      open.push(() => source.close());
      const heard = new Inbox();
      source.onmessage = ({ data }) => heard.push(JSON.parse(data).content);
      await within(10_000, 'the stream', () => new Promise((resolve) => (source.onopen = resolve)));
      return heard;
    });
    // Each word is heard by all before the next is said: what gathers answers would wait for more.
    for (const [at, word] of WORDS.entries()) {
      await share('sse', word);
      for (const heard of clients) assert.equal((await heard.first(at + 1))[at], word);
    }
  });

  test('polls and long polls', async () => {
    const first = await (await fetch(`${stack.url}/location/long/long`)).json();
    let after = first.next;
    for (const word of WORDS) {
      const waiting = each(() => fetch(`${stack.url}/location/long/long?after=${after}`).then((answer) => answer.json()));
      await share('long', word);
      const answers = await waiting;
      for (const { messages } of answers) assert.deepEqual(messages.map(({ content }) => content), [word]);
      after = answers[0].next;
    }
    const pages = await each(() => fetch(`${stack.url}/cur/long?after=0`).then((answer) => answer.json()));
    for (const { messages } of pages) assert.deepEqual(messages.map(({ content }) => content), WORDS);
  });

  test('WebSockets, with accounts', async () => {
    const service = new Service(stack.url, () => {});
    const room = await service.room(await service.login(1), 'behind nginx');
    const clients = await each(async (n) => {
      const socket = new WebSocket(`${stack.url.replace('http', 'ws')}/ws?room=${encodeURIComponent(room)}&token=${await service.login(n + 1)}`);
      open.push(() => socket.terminate());
      const heard = new Inbox();
      const joined = new Inbox();
      socket.on('message', (text) => {
        const { type, content } = JSON.parse(text);
        if (type === 'message') heard.push(content);
        if (type === 'joined') joined.push(true);
      });
      await joined.first(1);
      return { socket, heard };
    });
    await conversation((content) => clients[0].socket.send(JSON.stringify({ type: 'send', content })), clients.map(({ heard }) => heard));
  });

  test('our own engine, over every transport at once', async () => {
    const script = new URL('../../bench/scripts/churn/churn.yml', import.meta.url).pathname;
    const args = ['run', script, '--target', stack.url, '--json', '--no-folder', '--seed', '1'];
    const { code, stdout, stderr } = await finish(SONAGI, args, { env: { SECONDS: '5', RATE: '30' } });
    const summary = { code, stderr, ...JSON.parse(stdout) };
    assertClean(summary, 150);
    const { lost, duplicate, reordered, leaked, unknown } = summary.delivery;
    assert.deepEqual({ lost, duplicate, reordered, leaked, unknown }, { lost: 0, duplicate: 0, reordered: 0, leaked: 0, unknown: 0 });
  });

  test('who asks for too much is told so by the service, through nginx', async () => {
    const answer = await fetch(`${stack.url}/location/sse/share?group=large`, { method: 'POST', body: 'x'.repeat(200_000) });
    assert.equal(answer.status, 413);
    assert.equal((await answer.json()).error.code, 'too_large');
  });
});
