// The rooms of `sonagi serve` (docs/service.md, `/ws`) on the ws package, broadcast by a loop over the room's sockets with
// the frame's text encoded once. Nothing is stored, tokens are not looked at, and an id sent twice is a second message.
// Of ws's two native parts only bufferutil is installed: Node checks UTF-8 natively itself.
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';

/** Connections that may wait to be accepted: Node's own 511 makes a wave of joining users wait for a retransmission. */
const BACKLOG = 4096;
const TEXT = { binary: false };

/** Sockets and the last message's number of each room. */
const rooms = new Map();
let users = 0;

const say = (socket, frame) => socket.send(JSON.stringify(frame));
const refuse = (socket, message) => say(socket, { type: 'error', code: 'bad_request', message });

function roomNamed(name) {
  let room = rooms.get(name);
  if (!room) rooms.set(name, (room = { name, members: new Set(), last: 0 }));
  return room;
}

function join(socket, user, name) {
  const room = roomNamed(name);
  room.members.add(socket);
  user.rooms.add(room);
  say(socket, { type: 'joined', room: name, seq: room.last });
}

function leave(socket, user, name) {
  const room = roomNamed(name);
  room.members.delete(socket);
  user.rooms.delete(room);
  say(socket, { type: 'left', room: name });
}

function send(socket, user, name, { content, id = null }) {
  const room = roomNamed(name);
  const seq = (room.last += 1);
  const message = { type: 'message', room: name, seq, senderId: user.id, content, at: Date.now() };
  const encoded = Buffer.from(JSON.stringify(message));
  for (const member of room.members) if (member.readyState === WebSocket.OPEN) member.send(encoded, TEXT);
  say(socket, { type: 'ack', id, seq });
}

function converse(socket, user, data) {
  let frame;
  try {
    frame = JSON.parse(data);
  } catch {
    return refuse(socket, 'a frame is JSON');
  }
  if (typeof frame?.type !== 'string') return refuse(socket, 'a frame is a JSON object with a type');
  const name = frame.room ?? (user.rooms.size === 1 ? user.rooms.values().next().value.name : undefined);
  if (typeof name !== 'string') return refuse(socket, '`room` is missing');
  if (frame.type === 'send') send(socket, user, name, frame);
  else if (frame.type === 'join') join(socket, user, name);
  else if (frame.type === 'leave') leave(socket, user, name);
  else refuse(socket, 'the type is join, leave or send');
}

const http = createServer((_, response) => response.writeHead(404).end('not found'));
const sockets = new WebSocketServer({ server: http, clientTracking: false });
sockets.on('connection', (socket, request) => {
  const { pathname, searchParams } = new URL(request.url, 'ws://any');
  socket.on('error', () => {});
  if (pathname === '/ws/echo') return socket.on('message', (data, binary) => socket.send(data, { binary }));
  if (pathname !== '/ws') return socket.close(4404, 'not found');
  const user = { id: (users += 1), rooms: new Set() };
  socket.on('close', () => user.rooms.forEach((room) => room.members.delete(socket)));
  socket.on('message', (data) => converse(socket, user, data));
  if (searchParams.has('room')) join(socket, user, searchParams.get('room'));
});
http.listen({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0), backlog: BACKLOG }, () => {
  console.log(`listening on http://127.0.0.1:${http.address().port}`);
});
