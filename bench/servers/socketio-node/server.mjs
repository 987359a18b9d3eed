// The rooms of `sonagi serve` (docs/service.md, Socket.IO) on the official server. Of what its manual's page on performance
// says, the native part of ws is there and the first HTTP request of a session is let go; the WebSocket engine is the one it
// comes with, not eiows or µWebSockets.js, which the page names, too. Nothing is stored, tokens are not looked at, and an id sent
// twice is a second message. `POST …/auth/login` grants whoever asks, for scripts that log in first.
import { createServer } from 'node:http';
import { Server } from 'socket.io';

/** Connections that may wait to be accepted: Node's own 511 makes a wave of joining users wait for a retransmission. */
const BACKLOG = 4096;

/** The number of the last message of each room. */
const lastOf = new Map();
let users = 0;

const http = createServer((request, response) => {
  if (request.method !== 'POST' || !request.url.endsWith('/auth/login')) return response.writeHead(404).end('not found');
  request.resume().on('end', () => {
    const user = { id: 1, email: 'user1@example.test', username: 'user1' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ access_token: 'granted', user }));
  });
});
const io = new Server(http);
io.engine.on('connection', (session) => (session.request = null));

io.on('connection', (socket) => {
  const senderId = (users += 1);
  let only = null;

  socket.on('joinRoom', (wanted, acknowledge) => {
    const room = wanted?.roomId ?? wanted;
    socket.join(room);
    only = room;
    acknowledge?.({ ok: true, room, seq: lastOf.get(room) ?? 0 });
  });
  socket.on('leaveRoom', (wanted, acknowledge) => {
    const room = wanted?.roomId ?? wanted;
    socket.leave(room);
    acknowledge?.({ ok: true, room });
  });
  socket.on('sendMessage', (message, acknowledge) => {
    const roomId = message?.roomId ?? only;
    const content = message?.roomId === undefined ? message : message.content;
    const seq = (lastOf.get(roomId) ?? 0) + 1;
    lastOf.set(roomId, seq);
    io.to(roomId).emit('newMessage', { roomId, seq, senderId, content, at: Date.now() });
    acknowledge?.({ ok: true, seq });
  });
});

http.listen({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0), backlog: BACKLOG }, () => {
  console.log(`listening on http://127.0.0.1:${http.address().port}`);
});
