// The contract of the foreign servers, held against whichever are installed, and against `sonagi serve` where SONAGI_BIN names
// a binary: what a case compares must be the same conversation.
//
//   node --experimental-websocket --test bench/servers/contract.test.mjs
//
// FOLDER chooses one server's folder, `none` only our own; the setup of each server runs this on it before it counts as installed.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, before, after, test } from 'node:test';
import { CACHE } from '../lib/cache.mjs';
import { member, open, session, start } from './client.mjs';
import { SERVERS } from './servers.mjs';

const CONTENTS = ['소나기 ☔', '', 42.5, null, true, [1, [2, { three: 3 }]], { text: 'a "quoted" \\ line\n', n: -0.1 }];
const MANY = 300;

/** `sonagi serve` as a service: it asks for a token and for rooms that exist. */
function reference(speaks) {
  const argv = () => [process.env.SONAGI_BIN, 'serve', '--listen', '127.0.0.1:0', '--seed-users', 4];
  const enter = async (url) => {
    const post = async (path, body, token) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const { access_token } = await post('/auth/login', { email: 'user1@example.test', password: 'password' });
    for (const name of ['shower', 'elsewhere']) await post('/rooms/find-or-create', { name }, access_token);
    return access_token;
  };
  return { name: `sonagi serve, ${speaks}`, role: 'service', speaks, argv, enter };
}

const chosen = SERVERS.filter(({ folder, argv }) => (process.env.FOLDER ? folder === process.env.FOLDER : existsSync(argv(CACHE)[0])));
const ours = process.env.SONAGI_BIN ? [reference('ws'), reference('socket.io')] : [];

for (const server of [...chosen, ...ours]) {
  describe(server.name, () => {
    const running = { token: 'any' };
    before(async () => {
      Object.assign(running, await start(server.argv(CACHE)));
      if (server.enter) running.token = await server.enter(running.url);
    });
    after(async () => assert.ok(await running.stop(), 'SIGTERM did not end it'));

    if (server.role === 'target') targetKeeps(running);
    else if (server.speaks === 'ws') roomsKeep(running);
    else socketIoKeeps(running);
    if (server.role === 'target' || server.speaks === 'ws') echoKeeps(running);
  });
}

function echoKeeps(server) {
  test('an echo is what was sent, text as text and binary as binary', async () => {
    const socket = await open(`${server.url}/ws/echo`);
    for (const text of ['', 'drop', '소나기'.repeat(20_000)]) {
      socket.send(text);
      assert.equal(await socket.next(), text);
    }
    const bytes = Buffer.from([0, 255, 1, 254]);
    socket.send(bytes);
    assert.deepEqual(await socket.next(), bytes);
    socket.close();
  });
}

function roomsKeep(server) {
  const enter = async (room) => {
    const one = await member(`${server.url}/ws?room=${room}&token=${server.token}`);
    return Object.assign(one, { joined: JSON.parse(await one.hear('joined')) });
  };

  test('a message goes to its sender and to the others of the room, as it was written, under the next number', async () => {
    const [sender, other, stranger] = await Promise.all([enter('shower'), enter('shower'), enter('elsewhere')]);
    let last = other.joined.seq;
    assert.deepEqual(other.joined, { type: 'joined', room: 'shower', seq: last });
    for (const content of CONTENTS.filter((content) => content !== null)) {
      sender.say({ type: 'send', room: 'shower', content, id: `id ${last}` });
      const shape = new RegExp(`^\\{"type":"message","room":"shower","seq":${last + 1},"senderId":\\d+,"content":(.*),"at":\\d{13}\\}$`);
      for (const one of [sender, other]) {
        const [, written] = shape.exec(await one.hear('message')) ?? assert.fail('another shape');
        assert.equal(written, JSON.stringify(content));
      }
      assert.equal(await sender.hear('ack'), `{"type":"ack","id":"id ${last}","seq":${last + 1}}`);
      last += 1;
    }
    stranger.say({ type: 'send', room: 'elsewhere', content: 'first heard', id: 7 });
    assert.equal(JSON.parse(await stranger.hear('message')).content, 'first heard');
    assert.equal(await stranger.hear('ack'), `{"type":"ack","id":7,"seq":${stranger.joined.seq + 1}}`);
    for (const one of [sender, other, stranger]) one.close();
  });

  test('a room is joined and left by frames, and named by its only room when the frame names none', async () => {
    const [one, other] = [await member(`${server.url}/ws?token=${server.token}`), await enter('shower')];
    one.say({ type: 'join', room: 'shower' });
    const { seq } = JSON.parse(await one.hear('joined'));
    one.say({ type: 'send', content: 'without a room' });
    assert.equal(await one.hear('ack'), `{"type":"ack","id":null,"seq":${seq + 1}}`);
    one.say({ type: 'leave', room: 'shower' });
    assert.equal(await one.hear('left'), '{"type":"left","room":"shower"}');
    other.say({ type: 'send', content: 'after it left', id: 1 });
    await other.hear('ack');
    one.say({ type: 'join', room: 'shower' });
    assert.equal(JSON.parse(await one.hear('joined')).seq, seq + 2);
    assert.equal(JSON.parse(await one.hear('message')).seq, seq + 1);
    other.say({ type: 'send', content: 'after it came back', id: 2 });
    assert.equal(JSON.parse(await one.hear('message')).seq, seq + 3);
    for (const each of [one, other]) each.close();
  });

  test('what is no frame is answered with an error, and the connection goes on', async () => {
    const one = await enter('shower');
    for (const broken of ['{', 'null', '[]', '{"type":"dance","room":"shower"}']) {
      one.say(broken);
      assert.equal(JSON.parse(await one.hear('error')).code, 'bad_request');
    }
    one.say({ type: 'send', content: 'still here', id: 1 });
    await one.hear('ack');
    one.close();
  });

  test('many messages at once reach everybody once and in order', async () => {
    const members = await Promise.all(['shower', 'shower', 'shower'].map(enter));
    const first = members[2].joined.seq + 1;
    for (let n = 0; n < MANY; n++) members[n % 2].say({ type: 'send', content: `drop ${n}`, id: `drop ${n}` });
    for (const one of members) {
      const seen = new Set();
      for (let n = 0; n < MANY; n++) {
        const { seq, content } = JSON.parse(await one.hear('message'));
        assert.equal(seq, first + n);
        seen.add(content);
      }
      assert.equal(seen.size, MANY);
      one.close();
    }
  });
}

function socketIoKeeps(server) {
  const enter = async (roomId) => {
    const one = await session(server.url, { token: server.token });
    return Object.assign(one, { joined: await one.ask('joinRoom', { roomId }) });
  };

  test('a message goes to its sender and to the others of the room, as it was written, under the next number', async () => {
    const [sender, other, stranger] = await Promise.all([enter('shower'), enter('shower'), enter('elsewhere')]);
    let last = other.joined.seq;
    assert.deepEqual(other.joined, { ok: true, room: 'shower', seq: last });
    for (const content of CONTENTS.filter((content) => content !== null)) {
      const acknowledged = sender.ask('sendMessage', { roomId: 'shower', content });
      assert.deepEqual(await acknowledged, { ok: true, seq: (last += 1) });
      for (const one of [sender, other]) {
        const message = await one.heard('newMessage');
        assert.deepEqual(Object.keys(message), ['roomId', 'seq', 'senderId', 'content', 'at']);
        assert.deepEqual([message.roomId, message.seq, message.content], ['shower', last, content]);
        assert.ok(Number.isInteger(message.senderId) && Number.isInteger(message.at));
      }
    }
    const { seq } = await stranger.ask('sendMessage', { roomId: 'elsewhere', content: 'first heard' });
    assert.equal(seq, stranger.joined.seq + 1);
    assert.equal((await stranger.heard('newMessage')).content, 'first heard');
    for (const one of [sender, other, stranger]) one.close();
  });

  test('who left a room hears no more of it', async () => {
    const [one, other] = await Promise.all([enter('shower'), enter('shower')]);
    assert.deepEqual(await one.ask('leaveRoom', { roomId: 'shower' }), { ok: true, room: 'shower' });
    const unheard = await other.ask('sendMessage', { roomId: 'shower', content: 'after it left' });
    assert.equal((await one.ask('joinRoom', 'shower')).seq, unheard.seq);
    other.tell('sendMessage', { roomId: 'shower', content: 'after it came back' });
    assert.equal((await one.heard('newMessage')).seq, unheard.seq + 1);
    for (const each of [one, other]) each.close();
  });

  test('many messages at once reach everybody once and in order', async () => {
    const members = await Promise.all(['shower', 'shower', 'shower'].map(enter));
    const first = members[2].joined.seq + 1;
    for (let n = 0; n < MANY; n++) members[n % 2].tell('sendMessage', { roomId: 'shower', content: `drop ${n}` });
    for (const one of members) {
      const seen = new Set();
      for (let n = 0; n < MANY; n++) {
        const { seq, content } = await one.heard('newMessage');
        assert.equal(seq, first + n);
        seen.add(content);
      }
      assert.equal(seen.size, MANY);
      one.close();
    }
  });
}

function targetKeeps(server) {
  test('every path and method is answered ok, two bytes of plain text', async () => {
    for (const [path, init] of [['/'], ['/a/b?c=d'], ['/any', { method: 'POST', body: 'x'.repeat(100_000) }], ['/any', { method: 'DELETE' }]]) {
      const answer = await fetch(server.url + path, init);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-length'), '2');
      assert.equal(answer.headers.get('content-type'), 'text/plain');
      assert.equal(await answer.text(), 'ok');
    }
  });

  test('a delayed answer is counted as late as it was', async () => {
    await fetch(`${server.url}/null/reset`, { method: 'POST' });
    await Promise.all(Array.from({ length: 20 }, async () => assert.equal(await (await fetch(`${server.url}/after/10ms`)).text(), 'ok')));
    const { after } = await (await fetch(`${server.url}/null/stats`)).json();
    assert.equal(after.count, 20);
    assert.ok(after.p50_ms >= 9 && after.p99_ms >= after.p50_ms && after.max_ms >= after.p99_ms, JSON.stringify(after));
  });

  test('a room says joined first, then every frame as it came to all, the sender too', async () => {
    const members = await Promise.all(['one', 'one', 'other'].map((room) => open(`${server.url}/ws/room/${room}`)));
    for (const one of members) assert.equal(await one.next(), 'joined');
    for (const text of ['drop', '{"소나기": 1}']) {
      members[0].send(text);
      for (const one of members.slice(0, 2)) assert.equal(await one.next(), text);
    }
    members[2].send('elsewhere');
    assert.equal(await members[2].next(), 'elsewhere');
    for (const one of members) one.close();
  });

  test('a flood has frames of the size asked for, and goes on', async () => {
    const socket = await open(`${server.url}/ws/flood?bytes=50&batch=8`);
    for (let n = 0; n < 1000; n++) assert.equal((await socket.next()).length, 50);
    socket.close();
  });
}
