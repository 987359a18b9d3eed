// k6/x/socketio against the official Socket.IO server: bytes, and an address where nobody is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish, SONAGI } from '../support/process.mjs';
import { startSocketio, TOKEN } from './socketio_server.mjs';

test('a k6 script sends and gets bytes in events and acknowledgements, and is told of a dead port', { timeout: 60_000 }, async () => {
  const server = await startSocketio();
  try {
    const path = new URL('scripts/socketio_bytes.js', import.meta.url).pathname;
    const { code, stderr } = await finish(SONAGI, ['run', '--quiet', '--log-format=json', '-e', `TARGET=${server.url}`, '-e', `TOKEN=${TOKEN}`, path]);
    const lines = stderr.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    const refused = 'dial tcp 127.0.0.1:1: connect: connection refused';
    assert.deepEqual(
      lines.filter(({ source }) => source === 'console').map(({ msg }) => JSON.parse(msg)),
      [
        ['picture', 'a cloud', 'ff0001', 'ec868ceb8298eab8b0'],
        ['drawn', 'a cloud', 70_000],
        ['uploaded', { label: 'mine', bytes: ['0102', '000000'] }],
        ['returned', ['0908', '0203']],
        ['disconnect', 'io client disconnect'],
        ['connect_error', 'transport', refused],
        ['status', 0, refused],
      ],
    );
    assert.deepEqual(lines.filter(({ level }) => level !== 'info').map(({ level, msg, error }) => [level, msg, error]), [['warning', 'Socket.IO session failed', refused]]);
    assert.equal(code, 0);
  } finally {
    await server.close();
  }
});
