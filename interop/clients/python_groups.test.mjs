// Clients in Python in location groups: stomp.py over a WebSocket in three versions, and httpx-sse.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { finish, PYTHON } from '../support/process.mjs';
import { startService } from '../support/service.mjs';

let service;
before(async () => (service = await startService()));
after(() => service?.stop());

/** Runs a program of this folder: the JSON it prints. */
async function run(program, ...args) {
  const { code, stdout, stderr } = await finish(PYTHON, [new URL(program, import.meta.url).pathname, service.url, ...args]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const numbers = Array.from({ length: 10 }, (_, n) => n);

for (const version of ['1.0', '1.1', '1.2']) {
  test(`stomp.py talks, listens, acknowledges and comes back by STOMP ${version}`, { timeout: 60_000 }, async () => {
    const all = numbers.map((n) => [n + 1, `파이썬 ${n}`]);
    const unasked = ['bad_frame', 'too late', true];
    assert.deepEqual(await run('python_stomp.py', version, `stomp-py-${version}`, await service.login(1)), {
      version,
      joined: ['0', '0'],
      own: all,
      others: all,
      unheard: 0,
      goodbyes: [true, true],
      resumed: ['10', all.slice(6)],
      transactions: [[1, 'outside'], [2, 'kept 1'], [3, 'kept 2'], [4, 'behind']],
      acknowledged: version === '1.0' ? { client: unasked } : { client: unasked, 'client-individual': unasked },
      refused: ['no_such_destination', 'its own', true, 'unauthorized'],
    });
  });
}

test('httpx-sse hears every message, goes on behind the last, and is told of a gap', { timeout: 60_000 }, async () => {
  const behind = (after, last) => numbers.slice(after, last).map((n) => ['message', String(n + 1), n + 1]);
  assert.deepEqual(await run('python_sse.py', 'httpx', await service.login(2)), {
    greeting: ['message', '', null, 1000],
    start: ['message', '0', null, null],
    messages: numbers.map((n) => ['message', String(n + 1), n + 1, 0, `파이썬 ${n}\n`]),
    resumed: behind(7, 10),
    asked: behind(8, 10),
    gap: ['gap', '0', { after: 900, from: 1 }, null],
    asynchronous: behind(8, 10),
    refused: 401,
    known: true,
  });
});
