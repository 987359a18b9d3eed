// Ports: those that nobody has, for programs that take no port 0, and whether somebody has one.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Ports that were free a moment ago, each another one. */
export async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const { port } = server.address();
      server.close();
      await once(server, 'close');
      return port;
    }),
  );
}

/** A port that was free a moment ago. */
export async function freePort() {
  const [port] = await freePorts(1);
  return port;
}

/** Whether somebody listens there. */
export function isOpen(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(true))).once('error', () => resolve(false));
  });
}
