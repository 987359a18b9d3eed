// A chat on the official Socket.IO server, for our engine to load.
import { createServer } from 'node:http';
import { Server } from 'socket.io';

export const TOKEN = 'let me in';

/**
 * Starts it on a free port. `seen` counts what reached it: connections by transport, events by name, upgrades.
 * `options` are the server's own.
 */
export async function startSocketio(options = {}) {
  const http = createServer();
  const io = new Server(http, options);
  const seen = { transports: {}, events: {}, upgrades: 0 };
  const count = (counts, name) => (counts[name] = (counts[name] ?? 0) + 1);

  io.engine.on('connection', (session) => {
    count(seen.transports, session.transport.name);
    session.on('upgrade', () => (seen.upgrades += 1));
  });

  for (const namespace of [io.of('/'), io.of('/chat')]) {
    namespace.use((socket, next) => {
      const allowed = socket.handshake.auth.token === TOKEN;
      next(allowed ? undefined : Object.assign(new Error('unauthorized'), { data: { retry: false } }));
    });
    namespace.on('connection', (socket) => {
      socket.onAny((name) => count(seen.events, name));
      converse(namespace, socket);
    });
  }

  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => io.close(resolve));
  return { url: `http://127.0.0.1:${http.address().port}`, io, seen, close };
}

function converse(namespace, socket) {
  socket.on('joinRoom', async ({ roomId }, acknowledge) => {
    await socket.join(roomId);
    acknowledge({ ok: true, room: roomId });
  });
  socket.on('sendMessage', ({ roomId, content }, acknowledge) => {
    namespace.to(roomId).emit('newMessage', { roomId, content, senderId: socket.id });
    acknowledge({ ok: true });
  });
  socket.on('add', (a, b, acknowledge) => acknowledge({ sum: a + b }));
  socket.on('slowly', (ms, acknowledge) => setTimeout(acknowledge, ms, 'at last'));
  socket.on('never', () => {});
  socket.on('ask', (question) => socket.emit('answer', { question, answer: 42 }));
  socket.on('draw', (label, acknowledge) => {
    socket.emit('picture', { label, bytes: Buffer.from([255, 0, 1]), more: [Buffer.from('소나기')] });
    acknowledge({ label, bytes: Buffer.alloc(70_000, 7) });
  });
  socket.on('upload', (label, picture, more, acknowledge) => {
    const bytes = [picture, more].map((part) => (Buffer.isBuffer(part) ? part.toString('hex') : `no bytes: ${typeof part}`));
    acknowledge({ label, bytes });
  });
  // Gives the bytes to whoever sent them, whose answer is acknowledged.
  socket.on('return', (bytes, acknowledge) => {
    socket.emit('question', bytes, ({ again, more }) => acknowledge([again, more].map((part) => part.toString('hex'))));
  });
  socket.on('kick me', () => socket.disconnect(true));
  socket.on('leave this namespace', () => socket.disconnect(false));
}
