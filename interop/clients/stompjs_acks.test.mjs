// Acknowledgements as @stomp/stompjs gives them, in every mode of every version.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { startService } from '../support/service.mjs';
import { StompPeer } from '../support/stomp.mjs';

/** Messages of a subscription that may be unacknowledged. */
const MOST = 10_000;
/** Frames that a transaction may hold, its BEGIN left out. */
const AT_ONCE = 999;

let service;
let groups = 0;
const open = [];
before(async () => (service = await startService()));
after(() => service?.stop());
afterEach(() => Promise.all(open.splice(0).map((peer) => peer.drop())));

async function connect(version) {
  const peer = new StompPeer({ brokerURL: `${service.websocketUrl}/location`, versions: [version] });
  open.push(peer);
  await peer.open();
  return peer;
}

/** A listener in a mode, and the first four messages it got. */
async function given(version, ack) {
  const peer = await connect(version);
  const group = `acks-${(groups += 1)}`;
  const heard = await peer.listen(`/sub/location/${group}`, { ack });
  for (let n = 1; n <= 4; n += 1) await peer.share(group, n);
  const frames = (await heard.first(4)).map(({ frame }) => frame);
  const say = (word, frame, headers) => peer.receipt((receipt) => frame[word]({ ...headers, ...receipt }));
  return { peer, group, heard, frames, say };
}

/** The connection ends because nothing waits for this acknowledgement. */
async function assertUnasked({ peer }, does) {
  assert.equal(peer.client.connected, true);
  does();
  const { code, close, headers } = await peer.refusal();
  assert.deepEqual([code, close], ['bad_frame', 1002], headers.message);
  return headers.message;
}

const UNKNOWN = /ACK and NACK must name a message that waits for it/;

for (const version of ['1.0', '1.1', '1.2']) {
  describe(`by STOMP ${version}`, { timeout: 60_000 }, () => {
    test('in the mode auto nothing is acknowledged', async () => {
      const listener = await given(version, 'auto');
      const [frame] = listener.frames;
      assert.equal(frame.headers.ack, undefined);
      if (version === '1.2') {
        // There is nothing to acknowledge by, and the client knows.
        frame.ack();
        await listener.peer.share(listener.group, 5);
        assert.equal((await listener.heard.first(5))[4].seq, 5);
      } else {
        assert.match(await assertUnasked(listener, () => frame.ack()), /mode auto/);
      }
    });

    test('in the mode client one counts for all before it', async () => {
      const listener = await given(version, 'client');
      const { frames, say } = listener;
      assert.equal(frames[2].headers.ack, version === '1.2' ? frames[2].headers['message-id'] : undefined);
      await say('ack', frames[2]);
      await say('ack', frames[3]);
      assert.match(await assertUnasked(listener, () => frames[1].ack()), UNKNOWN);
    });

    test('what is acknowledged in a transaction is so once it is committed', async () => {
      const listener = await given(version, 'client');
      const { peer, group, frames, say } = listener;
      const [kept, dropped] = [peer.client.begin(), peer.client.begin()];
      await say('ack', frames[3], { transaction: dropped.id });
      dropped.abort();
      await say('ack', frames[1], { transaction: kept.id });
      await say('ack', frames[0]);
      kept.commit();
      await peer.share(group, 5);
      await say('ack', frames[2]);
      assert.match(await assertUnasked(listener, () => frames[1].ack()), UNKNOWN);
    });

    test('who has left a subscription may still acknowledge what was on its way', async () => {
      const { peer, heard, frames, say, group } = await given(version, 'client');
      await peer.receipt((headers) => heard.subscription.unsubscribe(headers));
      await say('ack', frames[3]);
      await peer.share(group, 'still here');
      assert.equal(peer.client.connected, true);
    });

    if (version === '1.0') {
      test('there is no NACK and no mode client-individual', async () => {
        const listener = await given(version, 'client');
        await assertUnasked(listener, () => listener.frames[0].nack());
        const other = await connect(version);
        await assertUnasked({ peer: other }, () => other.client.subscribe('/sub/location/g', () => {}, { ack: 'client-individual' }));
      });
    } else {
      test('in the mode client-individual each counts for itself', async () => {
        const listener = await given(version, 'client-individual');
        const { frames, say } = listener;
        for (const n of [2, 0, 3]) await say('ack', frames[n]);
        assert.match(await assertUnasked(listener, () => frames[2].ack()), UNKNOWN);
      });

      for (const mode of ['client', 'client-individual']) {
        test(`a NACK counts as an ACK in the mode ${mode}, and nothing is sent again`, async () => {
          const listener = await given(version, mode);
          const { peer, group, heard, frames, say } = listener;
          await say('nack', frames[1]);
          await peer.share(group, 5);
          const items = await heard.first(5);
          assert.deepEqual(items.map(({ seq }) => seq), [1, 2, 3, 4, 5]);
          if (mode === 'client-individual') await say('ack', frames[0]);
          assert.match(await assertUnasked(listener, () => frames[0].nack()), UNKNOWN);
        });
      }
    }
  });
}

test('who acknowledges goes on for ever, and who does not is told and closed before too much is outstanding', { timeout: 60_000 }, async () => {
  const [speaker, careful, careless] = await Promise.all(['1.2', '1.2', '1.1'].map(connect));
  const heard = await careful.listen('/sub/location/much', { ack: 'client' });
  const unread = await careless.listen('/sub/location/much', { ack: 'client-individual' });
  for (let sent = 0; sent <= MOST; sent += AT_ONCE) {
    const transaction = speaker.client.begin();
    for (let n = 1; n < AT_ONCE; n += 1) speaker.client.publish({ destination: '/pub/share/much', body: '1', headers: { transaction: transaction.id } });
    await speaker.share('much', 1, { transaction: transaction.id });
    transaction.commit();
    const items = await heard.first(sent + AT_ONCE);
    await careful.receipt((receipt) => items.at(-1).frame.ack(receipt));
  }
  const { code, close } = await careless.refusal();
  assert.deepEqual([code, close], ['too_many_unacknowledged', 1000]);
  assert.deepEqual(unread.items.map(({ seq }) => seq), Array.from({ length: unread.items.length }, (_, n) => n + 1));
  assert.ok(unread.items.length <= MOST && unread.items.length > MOST - AT_ONCE, `it heard ${unread.items.length}`);
  await careful.share('much', 'the end');
  assert.equal(heard.items.at(-1).message.content, 'the end');
});
