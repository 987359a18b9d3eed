import { connect, createServer } from 'node:net';

/** A TCP relay to a port that lets everything wait on its way, in both directions: its port. The order of bytes is kept. */
export async function relay(started, { to, delayMs }) {
  const open = new Set();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: to, host: '127.0.0.1', noDelay: true });
    for (const [from, into] of [[near, far], [far, near]]) {
      open.add(from);
      from.on('data', (bytes) => setTimeout(() => into.writable && into.write(bytes), delayMs));
      from.on('error', () => {}).on('close', () => (open.delete(from), into.destroy()));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  started.atEnd(() => (server.close(), open.forEach((socket) => socket.destroy())));
  return server.address().port;
}
