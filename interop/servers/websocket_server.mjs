// Small servers on the `ws` package, for our engine to load.
import { WebSocketServer } from 'ws';

/** Starts one on a free port; `paths` says what each path does with a socket: `{ '/echo': (socket, request, room) => … }`. */
export async function startWebsocket(paths, options = {}) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
  const rooms = new Map();
  server.on('connection', (socket, request) => {
    const { pathname, searchParams } = new URL(request.url, 'ws://any');
    const name = searchParams.get('room') ?? '';
    if (!rooms.has(name)) rooms.set(name, new Set());
    rooms.get(name).add(socket);
    socket.on('close', () => rooms.get(name).delete(socket));
    socket.on('error', () => {});
    (paths[pathname] ?? (() => socket.close(4404)))(socket, request, rooms.get(name));
  });
  await new Promise((resolve) => server.on('listening', resolve));
  const close = () => {
    for (const socket of server.clients) socket.terminate();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `ws://127.0.0.1:${server.address().port}`, close };
}

/** Sends everything back as it came. */
export const echo = (socket) => socket.on('message', (data, binary) => socket.send(data, { binary }));

/** Sends everything to everyone in the room. */
export const broadcast = (socket, _, room) =>
  socket.on('message', (data, binary) => room.forEach((member) => member.send(data, { binary })));

/** The same, each message cut into three frames with a ping between them. */
export const broadcastInPieces = (socket, _, room) =>
  socket.on('message', (data) => {
    const third = Math.ceil(data.length / 3);
    for (const member of room) {
      member.send(data.subarray(0, third), { binary: false, fin: false });
      member.ping('between');
      member.send(data.subarray(third, 2 * third), { binary: false, fin: false });
      member.send(data.subarray(2 * third), { binary: false, fin: true });
    }
  });
