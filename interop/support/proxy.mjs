// A TCP relay that a test can cut: what a network does to a connection, at an instant of the test's choosing.
import { connect, createServer } from 'node:net';
import { Inbox } from './wait.mjs';

/**
 * Relays a free port to the one of `target` (a URL). `cut()` breaks every connection there is, without a farewell;
 * `cutAfter(n)` breaks each new one behind n bytes from the server, and `broken` gets the n of each that was.
 */
export async function startProxy(target) {
  const { hostname, port } = new URL(target);
  const pairs = new Set();
  const broken = new Inbox();
  let limit = Infinity;

  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const pair = { near, far };
    const most = limit;
    let left = most;
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    pairs.add(pair);
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
    near.pipe(far);
    far.on('data', (bytes) => {
      if (left <= 0) return;
      near.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left > 0) return;
      near.destroySoon();
      broken.push(most);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => pairs.forEach(({ near, far }) => (near.destroy(), far.destroy()));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut,
    broken,
    cutAfter: (bytes) => (limit = bytes),
    stop: () => new Promise((resolve) => (server.close(resolve), cut())),
  };
}
