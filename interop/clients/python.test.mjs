// python-socketio against our service: a second implementation of the protocol, which shares nothing with the first.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { finish, PYTHON } from '../support/process.mjs';
import { startService } from '../support/service.mjs';

const PROGRAM = new URL('python_socketio.py', import.meta.url).pathname;

let service;
before(async () => (service = await startService()));
after(() => service?.stop());

for (const transport of ['websocket', 'polling']) {
  test(`python-socketio talks and listens by ${transport}`, { timeout: 60_000 }, async () => {
    const token = await service.login(1);
    const room = await service.room(token, `python ${transport}`);
    const { code, stdout, stderr } = await finish(PYTHON, [PROGRAM, service.url, token, room, transport]);
    assert.equal(code, 0, stderr);
    const numbers = Array.from({ length: 10 }, (_, n) => n);
    assert.deepEqual(JSON.parse(stdout), {
      transport,
      joined: true,
      acknowledged: numbers.map(() => true),
      contents: numbers.map((n) => `파이썬 ${n}`),
      after_binary: true,
      refused: { message: 'unauthorized' },
    });
  });
}
