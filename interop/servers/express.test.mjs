// Our engine against Express: event streams that end, break and refuse, and polls with every way to say that there is nothing.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAllDelivered, assertClean, errorCounts, operation, run } from '../support/run.mjs';
import { startExpress } from './express_server.mjs';

const USERS = 5;
const OWED = USERS * 5 * USERS;
const TOGETHER = { concurrency: 3, timeout: 180_000 };

async function against(script, overrides) {
  const server = await startExpress();
  try {
    return { summary: await run(script, server.url, overrides), seen: server.seen };
  } finally {
    await server.close();
  }
}

/** The room by event streams; `query` is the stream's, `config` is laid over the script's. */
const streams = (query, config = {}) =>
  against('express-room.yml', { config: { sse: { url: `/rooms/{{ $room }}/stream?${query}` }, ...config } });

/** The room by polls; `block` is laid over the transport's own. */
function polls(transport, query, { block, stay = 1.2 } = {}) {
  const asked = { url: `/rooms/{{ $room }}/poll?${query}`, cursor: { json: '$.next', as: 'after' }, ...block };
  return against('express-room.yml', { config: { variables: { transport, stay }, [transport]: asked } });
}

const RECONNECT = { reconnect: { first: '20ms', most: '100ms', attempts: 10 }, variables: { stay: 2 } };

/** Every copy came, some of them over a later connection than they were owed to. */
function assertResumed({ delivery, errors, users }) {
  const { owed, delivered, replayed, late, lost, duplicate, reordered, leaked } = delivery;
  assert.ok(replayed > 0, 'something was missed and replayed');
  assert.deepEqual([owed, delivered + replayed], [OWED, OWED]);
  assert.deepEqual({ late, lost, duplicate, reordered, leaked }, { late: 0, lost: 0, duplicate: 0, reordered: 0, leaked: 0 });
  assert.deepEqual(errors, []);
  assert.equal(users.completed, USERS);
}

/** What each user asked for, in order. */
function byUser(asked) {
  const users = new Map();
  for (const one of asked) users.set(one.user, [...(users.get(one.user) ?? []), one]);
  assert.equal(users.size, USERS);
  return [...users.values()];
}

/** Each stream but a user's first went on behind the last event of those before it. */
function assertWentOn(seen) {
  for (const [first, ...later] of byUser(seen.streams)) {
    assert.equal(first.lastEventId, undefined);
    assert.ok(later.length > 0, 'it came back');
    let has = first.told.at(-1);
    for (const { lastEventId, told } of later) {
      assert.equal(Number(lastEventId), has);
      has = told.at(-1) ?? has;
    }
  }
}

describe('event streams', TOGETHER, () => {
  for (const lines of ['lf', 'crlf', 'cr']) {
    test(`with comments, unknown fields and data in several lines that end in ${lines.toUpperCase()} deliver every copy`, async () => {
      const { summary, seen } = await streams(`dress=rich&lines=${lines}`);
      assertClean(summary, USERS);
      assertAllDelivered(summary, OWED);
      assert.equal(summary.traffic.sse_received, OWED);
      assert.equal(summary.http_codes[201], 25);
      assert.deepEqual(seen.streams.map(({ told }) => told.length), Array(USERS).fill(25));
    });
  }

  test('are awaited by event type, their data one text whatever lines it came in', async () => {
    const { summary } = await against('express-expect.yml');
    assertClean(summary, 3);
    assertAllDelivered(summary, 3);
    assert.equal(operation(summary, 'expect located').count, 3);
    assert.equal(summary.traffic.sse_received, 6);
  });

  test('that end every few events are taken up with Last-Event-ID', async () => {
    const { summary, seen } = await streams('ends=4', RECONNECT);
    assertResumed(summary);
    assertWentOn(seen);
    assert.equal(summary.traffic.sse_received, OWED);
    assert.equal(summary.traffic.reconnects, seen.streams.length - USERS);
    assert.equal(summary.traffic.connections_lost, summary.traffic.reconnects);
  });

  test('that break off within an event are taken up in front of it', async () => {
    const { summary, seen } = await streams('breaks=6&dress=rich', RECONNECT);
    assertResumed(summary);
    assertWentOn(seen);
    assert.equal(summary.traffic.reconnects, seen.streams.length - USERS);
  });

  test('whose connections are reset are taken up, too', async () => {
    const { summary, seen } = await streams('breaks=6&how=reset', RECONNECT);
    assertResumed(summary);
    assert.equal(summary.traffic.reconnects, seen.streams.length - USERS);
  });

  test('that are answered 503 on coming back are asked for again until they are there', async () => {
    const { summary, seen } = await streams('ends=10&refuse_again=503', RECONNECT);
    const { delivered, replayed, lost, duplicate } = summary.delivery;
    assert.deepEqual([delivered + replayed, lost, duplicate], [OWED, 0, 0]);
    assertWentOn(seen);
    assert.deepEqual(errorCounts(summary), { handshake_refused_503: 2 * USERS });
    assert.equal(summary.traffic.reconnects_failed, 2 * USERS);
    assert.equal(summary.users.completed, USERS);
  });

  test('that are answered 204 on coming back are not asked for again', async () => {
    const { summary, seen } = await streams('ends=25&gone=25', RECONNECT);
    const { owed, delivered, lost } = summary.delivery;
    assert.ok(owed > 0);
    assert.deepEqual([delivered, lost, summary.traffic.sse_received], [owed, 0, OWED]);
    assert.deepEqual(byUser(seen.streams).map((own) => own.map(({ lastEventId }) => lastEventId)), Array(USERS).fill([undefined, '25']));
    assert.equal(summary.users.failed, USERS);
    assert.equal(summary.traffic.reconnects, 0);
    const failed = summary.errors.map(({ operation, code, count }) => `${operation} ${code} ${count}`).sort();
    assert.deepEqual(failed, [`reconnect handshake_refused_204 ${USERS}`, `subscribe handshake_refused_204 ${USERS}`]);
  });

  for (const [what, how, code] of [['end', 'ends=6', 'closed_early'], ['break off', 'breaks=6', 'closed_early'], ['are reset', 'breaks=6&how=reset', 'reset']]) {
    test(`that ${what} fail their users when nothing says to come back`, async () => {
      const { summary, seen } = await streams(how);
      assert.deepEqual(errorCounts(summary), { [code]: USERS });
      assert.equal(summary.users.failed, USERS);
      assert.equal(seen.streams.length, USERS);
      assert.equal(summary.traffic.connections_lost, USERS);
    });
  }

  for (const status of [500, 404, 204]) {
    test(`that are answered ${status} are refused`, async () => {
      const { summary } = await streams(`refuse=${status}`);
      assert.deepEqual(errorCounts(summary), { [`handshake_refused_${status}`]: USERS });
      assert.equal(summary.users.failed, USERS);
      assert.equal(summary.delivery.owed, 0);
    });
  }

  test('of another content type are none', async () => {
    const { summary } = await streams('type=text/html');
    assert.deepEqual(errorCounts(summary), { protocol: USERS });
    assert.match(summary.errors[0].example, /text\/html/);
  });

  test('bring nothing of a message that was answered 500', async () => {
    const publish = { post: { url: '/rooms/{{ $room }}?refuse=1', json: '{{ $message }}' } };
    const { summary, seen } = await against('express-room.yml', { config: { sse: { publish } } });
    assert.deepEqual(errorCounts(summary), { capture_or_match: USERS });
    assert.deepEqual([summary.http_codes[500], seen.posts], [USERS, USERS]);
    const { owed, unknown, lost } = summary.delivery;
    assert.deepEqual([owed, lost], [0, 0]);
    assert.ok(unknown > 0);
  });
});

/** Each poll gave back what the last answer with a cursor had given; a user's first gave nothing. */
function assertCursors(seen) {
  for (const own of byUser(seen.polls)) {
    let has;
    for (const { after, next } of own) {
      assert.equal(after === undefined ? undefined : Number(after), has);
      has = next ?? has;
    }
  }
}

/** Of each user's polls the last may have been cut off when its answer was on the way. */
function assertCounted(counted, given) {
  const cutOff = given - counted;
  assert.ok(cutOff >= 0 && cutOff <= USERS, `${counted} counted of ${given} answers`);
}

/** What was answered so, of all polls. */
const answered = (seen, what) => seen.polls.filter(({ is }) => is === what).length;

function assertPolled({ summary, seen }) {
  assertAllDelivered(summary, OWED);
  assertCursors(seen);
  assert.equal(summary.traffic.polls_received, OWED);
  assertCounted(summary.traffic.polls, seen.polls.length);
  assertCounted(summary.traffic.polls_empty, answered(seen, 'empty'));
  // Five times a user has nothing to hear between its joining and the first message, and behind the last one.
  assert.ok(summary.traffic.polls_empty >= USERS * 5);
}

/** All that was empty had this status, but for each user's first poll. */
function assertExpired({ summary: { http_codes: codes, traffic } }, expiry) {
  if (Number(expiry)) assert.equal(codes[expiry], traffic.polls_empty - USERS);
}

describe('polls', TOGETHER, () => {
  const EXPIRIES = { 204: 'with 204', 304: 'with 304', 503: 'with 503', empty: 'with an empty 200', list: 'with an empty list' };
  for (const [expiry, words] of Object.entries(EXPIRIES)) {
    const block = expiry === '503' ? { empty: [503] } : {};

    test(`that wait and expire ${words} are empty, and all is delivered`, async () => {
      const outcome = await polls('longpoll', `hold=300&expiry=${expiry}`, { block });
      assertClean(outcome.summary, USERS);
      assertPolled(outcome);
      assertExpired(outcome, expiry);
    });

    test(`on a grid, answered ${words} when there is nothing, are empty, and all is delivered`, async () => {
      const outcome = await polls('poll', `expiry=${expiry}`, { block });
      assertClean(outcome.summary, USERS);
      assertPolled(outcome);
      assertExpired(outcome, expiry);
    });
  }

  test('that expire with 503 after more than a second are empty without a word of it in the script', async () => {
    const outcome = await polls('longpoll', 'hold=1100&expiry=503', { stay: 2.5 });
    assertClean(outcome.summary, USERS);
    assertAllDelivered(outcome.summary, OWED);
    assertCursors(outcome.seen);
    assertExpired(outcome, 503);
    assertCounted(outcome.summary.traffic.polls_empty, answered(outcome.seen, 'empty'));
    assert.ok(outcome.summary.http_codes[503] >= USERS);
  });

  for (const transport of ['poll', 'longpoll']) {
    test(`that are lists, their cursor in a header, deliver every copy to ${transport}`, async () => {
      const cursor = { header: 'x-next', as: 'after' };
      const outcome = await polls(transport, 'hold=100&shape=list', { block: { cursor } });
      assertClean(outcome.summary, USERS);
      assertPolled(outcome);
    });
  }

  test('that are answered 500 in between have failed, are not empty, and nothing is lost by it', async () => {
    const outcome = await polls('poll', 'refuse=4');
    assertPolled(outcome);
    const { summary, seen } = outcome;
    assertCounted(summary.http_codes[500], answered(seen, 'refused'));
    assert.ok(summary.http_codes[500] >= USERS);
    assert.deepEqual(errorCounts(summary), { poll_refused_500: summary.http_codes[500] });
    assert.equal(summary.users.completed, USERS);
  });

  test('that are answered 503 at once are no expiry', async () => {
    const { summary, seen } = await polls('longpoll', 'hold=300&refuse=6&status=503', { stay: 3 });
    assert.deepEqual([summary.delivery.owed, summary.delivery.lost, summary.delivery.duplicate], [OWED, 0, 0]);
    assert.ok(summary.http_codes[503] > 0);
    assert.deepEqual(errorCounts(summary), { poll_refused_503: summary.http_codes[503] });
    assertCounted(summary.http_codes[503], answered(seen, 'refused'));
    assertCounted(summary.traffic.polls_empty, answered(seen, 'empty'));
    assertCursors(seen);
  });

  test('whose answers break off now and then have failed, and nothing is lost by it', async () => {
    const { summary, seen } = await polls('poll', 'breaks=4');
    assertAllDelivered(summary, OWED);
    assertCursors(seen);
    assert.ok(answered(seen, 'broken off') > 0);
    assert.deepEqual(errorCounts(summary), { closed_early: answered(seen, 'broken off') });
    assert.equal(summary.users.completed, USERS);
  });

  test('whose answers break off three times in a row have lost their user', async () => {
    const { summary, seen } = await polls('poll', 'breaks=1');
    assert.equal(summary.users.failed, USERS);
    assert.deepEqual(Object.keys(errorCounts(summary)), ['closed_early']);
    assert.deepEqual(byUser(seen.polls).map((own) => own.filter(({ is }) => is === 'broken off').length), Array(USERS).fill(3));
    assert.deepEqual([summary.delivery.delivered, summary.traffic.polls_received], [0, 0]);
  });

  for (const transport of ['poll', 'longpoll']) {
    test(`that are refused with 500 from the first on fail the users of ${transport}`, async () => {
      const { summary } = await polls(transport, 'refuse=all');
      assert.deepEqual(errorCounts(summary), { handshake_refused_500: USERS });
      assert.equal(summary.users.failed, USERS);
    });
  }
});
