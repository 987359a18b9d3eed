// The STOMP client of browsers, @stomp/stompjs, against our service: all three versions.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { startService } from '../support/service.mjs';
import { StompPeer } from '../support/stomp.mjs';

const VERSIONS = ['1.0', '1.1', '1.2'];
const BINARY = new Uint8Array([0x22, 0xff, 0xfe, 0x22]);

let service;
const open = [];
before(async () => (service = await startService()));
after(() => service?.stop());
afterEach(() => Promise.all(open.splice(0).map((peer) => peer.drop())));

function dial(versions, config) {
  const peer = new StompPeer({ brokerURL: `${service.websocketUrl}/location`, versions, ...config });
  open.push(peer);
  return peer;
}

async function connect(version, config) {
  const peer = dial([version], config);
  await peer.open();
  return peer;
}

const seqs = (items) => items.map(({ seq }) => seq);
const contents = (items) => items.map(({ message }) => message.content);
const upTo = (count) => Array.from({ length: count }, (_, n) => n + 1);

for (const version of VERSIONS) {
  describe(`by STOMP ${version}`, { timeout: 60_000 }, () => {
    const group = (name) => `${name}-${version}`;
    const from = (name) => `/sub/location/${group(name)}`;

    test('client and service settle on it', async () => {
      const peer = dial([version]);
      const connected = await peer.open();
      assert.equal(peer.client.connectedVersion, version);
      assert.equal(peer.client.webSocket.protocol, `v${version.replace('.', '')}.stomp`);
      assert.equal(connected.version, version);
      assert.match(connected.server, /^sonagi\//);
      assert.match(connected.session, /^\d+$/);
      assert.equal(connected['heart-beat'], version === '1.0' ? undefined : '10000,10000');
    });

    test('who shares hears itself once and in order with everybody else', async () => {
      const peers = [await connect(version), await connect(version)];
      const inboxes = await Promise.all(peers.map((peer) => peer.listen(from('talk'))));
      assert.deepEqual(inboxes.map(({ receipt }) => receipt.seq), ['0', '0']);
      // Without waiting for each other, so that they share writes.
      const sent = upTo(40).map((n) => ({ n, text: `소나기 ${n} 🌧 "quoted"\r\n:` }));
      await Promise.all(sent.map((content) => peers[0].share(group('talk'), content)));
      await peers[1].share(group('talk'), 'the last');
      for (const inbox of inboxes) {
        const heard = await inbox.first(41);
        assert.deepEqual(contents(heard), [...sent, 'the last']);
        assert.deepEqual(seqs(heard), upTo(41));
        assert.deepEqual(heard.map(({ message }) => message.seq), upTo(41), 'in the body as in the header');
        assert.equal(inbox.items.length, 41);
      }
      const [{ message, frame }] = inboxes[1].items;
      assert.deepEqual(Object.keys(message).sort(), ['at', 'content', 'senderId', 'seq']);
      assert.equal(message.senderId, 0);
      const { destination, subscription, 'content-type': type } = frame.headers;
      assert.deepEqual([destination, subscription, type], [from('talk'), inboxes[1].subscription.id, 'application/json']);
      assert.equal(new Set(inboxes[1].items.map((item) => item.frame.headers['message-id'])).size, 41);
    });

    test('a body is JSON as it is, or text, or nothing, however it is framed', async () => {
      const peer = await connect(version);
      const heard = await peer.listen(from('bodies'));
      const say = (frame) => peer.receipt((headers) => peer.client.publish({ destination: `/pub/share/${group('bodies')}`, headers, ...frame }));
      const bytes = (text) => new TextEncoder().encode(text);
      const large = '비🌧'.repeat(8000);
      await say({ body: '{"lat": 37.50, "text": "한강"}' });
      await say({ body: '한강 🌧\nis no JSON' });
      await say({ body: 'one\0two' });
      await say({ body: '' });
      await say({ binaryBody: bytes('["두 바이트", 2]') });
      await say({ body: '"without its length"', skipContentLengthHeader: true });
      peer.client.forceBinaryWSFrames = true;
      await say({ body: JSON.stringify(large) });
      const said = [{ lat: 37.5, text: '한강' }, '한강 🌧\nis no JSON', 'one\0two', {}, ['두 바이트', 2], 'without its length', large];
      assert.deepEqual(contents(await heard.first(7)), said);
    });

    test('a frame may come in pieces of any size', async () => {
      const peer = await connect(version, { splitLargeFrames: true, maxWebSocketChunkSize: 3 });
      const heard = await peer.listen(from('pieces'));
      await peer.share(group('pieces'), '소나기 🌧');
      assert.deepEqual(contents(await heard.first(1)), ['소나기 🌧']);
    });

    test('a transaction is taken all at once by its commit, and not at all after its abort', async () => {
      const peer = await connect(version);
      const heard = await peer.listen(from('transactions'));
      const say = (content, transaction) => peer.share(group('transactions'), content, transaction && { transaction: transaction.id });
      const [kept, dropped] = [peer.client.begin(), peer.client.begin('its own name')];
      await say('kept 1', kept);
      await say('dropped', dropped);
      await say('outside');
      await say('kept 2', kept);
      assert.deepEqual(contents(heard.items), ['outside'], 'all but that is held');
      dropped.abort();
      kept.commit();
      await say('behind');
      assert.deepEqual(contents(await heard.first(4)), ['outside', 'kept 1', 'kept 2', 'behind']);
      assert.deepEqual(seqs(heard.items), [1, 2, 3, 4]);
    });

    test('whoever comes back goes on behind the number it has, and is told of a gap', async () => {
      const speaker = await connect(version);
      for (let n = 1; n <= 5; n += 1) await speaker.share(group('after'), n);
      const listener = await connect(version);
      const [some, none, all] = await Promise.all([3, 5, 0].map((after) => listener.listen(from('after'), { after })));
      const unknown = await listener.listen(from('after'), { after: 900 });
      assert.deepEqual([some, unknown].map(({ receipt }) => [receipt.seq, receipt.gap]), [['5', undefined], ['5', 'true']]);
      await speaker.share(group('after'), 6);
      assert.deepEqual(seqs(await some.first(3)), [4, 5, 6]);
      assert.deepEqual(seqs(await none.first(1)), [6]);
      assert.deepEqual(seqs(await all.first(6)), [1, 2, 3, 4, 5, 6]);
      const [gap, ...kept] = await unknown.first(7);
      assert.deepEqual(gap.message, { gap: true, after: 900, from: 1 });
      assert.deepEqual([gap.frame.headers.gap, gap.frame.headers.seq], ['true', undefined]);
      assert.deepEqual(seqs(kept), [1, 2, 3, 4, 5, 6]);
    });

    test('who unsubscribes hears no more, and who says goodbye is told so', async () => {
      let farewells = 0;
      const peer = await connect(version, { onDisconnect: () => (farewells += 1) });
      const [stays, goes] = [await peer.listen(from('leaving')), await peer.listen(from('leaving'))];
      await peer.share(group('leaving'), 1);
      await goes.first(1);
      await peer.receipt((headers) => goes.subscription.unsubscribe(headers));
      await peer.share(group('leaving'), 2);
      assert.deepEqual(seqs(await stays.first(2)), [1, 2]);
      assert.deepEqual(seqs(goes.items), [1]);
      await peer.client.deactivate();
      assert.equal(farewells, 1, 'the receipt of DISCONNECT');
      assert.deepEqual(peer.endings.items, [{ close: 1000, reason: '' }]);
    });

    const raw = (frame) => (peer) => peer.client.webSocket.send(frame);
    const publish = (frame) => (peer) => peer.client.publish({ destination: '/pub/share/wrong', ...frame });
    const twice = (peer) => ['a', 'b'].forEach((name) => peer.client.subscribe(`/sub/location/${name}`, () => {}, { id: 'same' }));
    for (const [what, does, code, close] of [
      ['a destination that is none', ({ client }) => client.subscribe('/topic/g', () => {}), 'no_such_destination', 1000],
      ['a place to send to that is none', publish({ destination: '/sub/location/g' }), 'no_such_destination', 1000],
      ['a chat room, by nobody', ({ client }) => client.subscribe('/sub/room/lobby', () => {}), 'unauthorized', 1000],
      ['a transaction that is not open', ({ client }) => client.commit('never begun'), 'transaction', 1000],
      ['text that is too large as JSON', publish({ body: 'x'.repeat(65_535) }), 'too_large', 1000],
      ['a body that is too large for any', publish({ body: 'x'.repeat(65_537) }), 'too_large', 1000],
      ['a body that is not text', publish({ binaryBody: BINARY }), 'bad_frame', 1002],
      ['an id that is taken', twice, 'bad_frame', 1002],
      ['a mode that is none', ({ client }) => client.subscribe(from('a'), () => {}, { ack: 'never' }), 'bad_frame', 1002],
      ['a frame that is none', raw('NONSENSE\n\n\0'), 'bad_frame', 1002],
      ['a second CONNECT', raw('CONNECT\naccept-version:1.0,1.1,1.2\n\n\0'), 'bad_frame', 1002],
    ]) {
      test(`${what} is answered with ERROR, and the connection closes with ${close}`, async () => {
        const peer = await connect(version);
        does(peer);
        const refusal = await peer.refusal();
        assert.deepEqual([refusal.code, refusal.close], [code, close], refusal.headers.message);
        // The client leaves what 1.1 escapes as it is.
        assert.equal(refusal.headers.message.replaceAll('\\c', ':'), refusal.body);
        assert.ok(refusal.body.length > 10);
      });
    }

    test('an ERROR names the receipt of the frame that was wrong', async () => {
      const peer = await connect(version);
      peer.client.publish({ destination: '/pub/nowhere', headers: { receipt: 'its own' } });
      assert.equal((await peer.refusal()).receipt, 'its own');
    });

    test('a token makes the sender known and opens chat rooms, and a wrong one is refused', async () => {
      const token = await service.login(2);
      for (const connectHeaders of [{ login: token }, { Authorization: `Bearer ${token}` }]) {
        const peer = await connect(version, { connectHeaders });
        const [open, chat] = [await peer.listen(from('known')), await peer.listen('/sub/room/lobby')];
        await peer.share(group('known'), 'who am I');
        await peer.receipt((headers) => peer.client.publish({ destination: '/pub/room/lobby', body: '"me"', headers }));
        const [shared] = await open.first(1);
        const [said] = await chat.first(1);
        assert.ok(shared.message.senderId > 0);
        assert.deepEqual([said.message.senderId, said.message.content], [shared.message.senderId, 'me']);
      }
      const refused = dial([version], { connectHeaders: { login: 'wrong' } });
      refused.client.activate();
      const { code, close } = await refused.refusal();
      assert.deepEqual([code, close], ['unauthorized', 1000]);
    });
  });
}

test('the highest version that both have is taken, and none is an ERROR that names ours', { timeout: 60_000 }, async () => {
  for (const [versions, settled] of [[VERSIONS, '1.2'], [['1.1', '1.0'], '1.1'], [['1.0', '3.0'], '1.0']]) {
    const peer = dial(versions);
    assert.equal((await peer.open()).version, settled);
    assert.equal(peer.client.webSocket.protocol, `v${settled.replace('.', '')}.stomp`);
  }
  // Asked for by no subprotocol, which would be refused by the client itself.
  const webSocketFactory = () => new WebSocket(`${service.websocketUrl}/location/websocket`);
  const stranger = dial(['3.0'], { webSocketFactory });
  stranger.client.activate();
  const { code, close, headers } = await stranger.refusal();
  assert.deepEqual([code, close, headers.version], ['unsupported_version', 1000, '1.0,1.1,1.2']);
});

test('clients of all versions hear the same, at the same numbers', { timeout: 60_000 }, async () => {
  const peers = await Promise.all(VERSIONS.map((version) => connect(version)));
  const inboxes = await Promise.all(peers.map((peer) => peer.listen('/sub/location/mixed')));
  await Promise.all(upTo(10).flatMap((n) => peers.map((peer, at) => peer.share('mixed', `${VERSIONS[at]} ${n}`))));
  const [heard, ...others] = await Promise.all(inboxes.map((inbox) => inbox.first(30)));
  assert.deepEqual(seqs(heard), upTo(30));
  for (const other of others) assert.deepEqual(contents(other), contents(heard));
  for (const version of VERSIONS) {
    const own = contents(heard).filter((content) => content.startsWith(version));
    assert.deepEqual(own, upTo(10).map((n) => `${version} ${n}`), 'in the order it was said');
  }
});

test('what has an idempotency key is published once for a known user', { timeout: 60_000 }, async () => {
  const peer = await connect('1.2', { connectHeaders: { login: await service.login(3) } });
  const heard = await peer.listen('/sub/location/once');
  for (let n = 0; n < 3; n += 1) await peer.share('once', 'the same', { 'idempotency-key': 'k' });
  await peer.share('once', 'another', { 'idempotency-key': 'l' });
  assert.deepEqual(contents(await heard.first(2)), ['the same', 'another']);
});
