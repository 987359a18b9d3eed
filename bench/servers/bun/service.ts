// The rooms of `sonagi serve` (docs/service.md, `/ws`) on Bun's own publish. Nothing is stored, tokens are not looked at,
// and an id sent twice is a second message.
import type { Server, ServerWebSocket } from 'bun';

type User = { id: number; room: string | null; echo: boolean };
type Socket = ServerWebSocket<User>;

/** The number of the last message of each room. */
const lastOf = new Map<string, number>();
let users = 0;

const say = (socket: Socket, frame: object) => socket.sendText(JSON.stringify(frame));
const refuse = (socket: Socket, message: string) => say(socket, { type: 'error', code: 'bad_request', message });

function join(socket: Socket, room: string) {
  socket.subscribe(room);
  socket.data.room = room;
  say(socket, { type: 'joined', room, seq: lastOf.get(room) ?? 0 });
}

function converse(socket: Socket, text: string) {
  let frame;
  try {
    frame = JSON.parse(text);
  } catch {
    return refuse(socket, 'a frame is JSON');
  }
  if (typeof frame?.type !== 'string') return refuse(socket, 'a frame is a JSON object with a type');
  const room = frame.room ?? socket.data.room;
  if (typeof room !== 'string') return refuse(socket, '`room` is missing');
  if (frame.type === 'send') {
    const seq = (lastOf.get(room) ?? 0) + 1;
    lastOf.set(room, seq);
    const { content, id = null } = frame;
    const message = { type: 'message', room, seq, senderId: socket.data.id, content, at: Date.now() };
    server.publish(room, JSON.stringify(message));
    say(socket, { type: 'ack', id, seq });
  } else if (frame.type === 'join') {
    join(socket, room);
  } else if (frame.type === 'leave') {
    socket.unsubscribe(room);
    say(socket, { type: 'left', room });
  } else {
    refuse(socket, 'the type is join, leave or send');
  }
}

const server: Server<User> = Bun.serve<User>({
  hostname: '127.0.0.1',
  port: Number(process.argv[2] ?? 0),
  fetch(request, server) {
    const { pathname, searchParams } = new URL(request.url);
    const data: User = { id: ++users, room: searchParams.get('room'), echo: pathname === '/ws/echo' };
    if ((pathname === '/ws' || data.echo) && server.upgrade(request, { data })) return undefined;
    return new Response('not found', { status: 404 });
  },
  websocket: {
    open(socket: Socket) {
      if (socket.data.room) join(socket, socket.data.room);
    },
    message(socket: Socket, message) {
      if (socket.data.echo) socket.send(message);
      else if (typeof message === 'string') converse(socket, message);
      else refuse(socket, 'a frame is text');
    },
  },
});

console.log(`listening on http://127.0.0.1:${server.port}`);
