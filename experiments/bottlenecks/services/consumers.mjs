import { connect } from 'node:net';

/** Members of a room beside those of the load, which read all they are sent, or nothing of it. */
export async function consumers(started, { port, path, count, reads }) {
  for (let at = 0; at < count; at++) {
    const socket = connect({ port, host: '127.0.0.1' });
    started.atEnd(() => socket.destroy());
    socket.on('error', () => {});
    const key = Buffer.from(`planted-consumer`.slice(0, 16)).toString('base64');
    const lines = [`GET ${path} HTTP/1.1`, 'host: 127.0.0.1', 'upgrade: websocket', 'connection: upgrade', `sec-websocket-key: ${key}`, 'sec-websocket-version: 13'];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    // A socket of Node's that is paused is read no further than its buffer.
    if (reads) socket.resume();
    else socket.pause();
  }
}
