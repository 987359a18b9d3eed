// Rooms on Express: event streams and polls as hand-written services have them, with what such services do wrong.
//
// What a user asked for and what it was told is in `seen`: users say who they are in the header x-user.
import express from 'express';
import { EventEmitter } from 'node:events';

/** What an event looks like in the stream. */
const DRESSES = {
  plain: ({ id, content }) => `id: ${id}\ndata: ${JSON.stringify(content)}\n\n`,
  /** What a reader must pass over, and data in several lines, with and without the blank behind the colon. */
  rich: ({ id, content }) => {
    const [first, ...lines] = JSON.stringify(content, null, 1).split('\n');
    const data = [`data:${first}`, ...lines.map((line) => `data: ${line}`)].join('\n');
    return `: ${'beat '.repeat(9)}\n\nevent: nothing\n\nunknown: field\ndatabase\n${data}\nid:${id}\nretry: soon\n\n:\n`;
  },
};
const LINES = { lf: '\n', crlf: '\r\n', cr: '\r' };

/** How a poll is answered that has had its time. */
const EXPIRIES = {
  204: (response) => response.status(204).end(),
  304: (response) => response.status(304).end(),
  503: (response) => response.status(503).send('AsyncRequestTimeoutException'),
  empty: (response) => response.status(200).end(),
  list: (response) => response.json([]),
};

/**
 * Starts it on a free port. `seen` has `streams`, one `{ user, lastEventId, told }` each in the order they came, with the
 * ids of the events written whole; `polls`, one `{ user, after, status, is, next }` each in the order they were answered; and the
 * number of `posts`.
 */
export async function startExpress() {
  const app = express();
  const rooms = new Map();
  const seen = { streams: [], polls: [], posts: 0 };
  const room = (name) => rooms.get(name) ?? rooms.set(name, new Room()).get(name);

  app.post('/rooms/:room', express.json({ strict: false }), (request, response) => {
    seen.posts += 1;
    if (request.query.refuse) throw new Error('a handler that fails');
    response.status(201).json({ id: room(request.params.room).add(request.body) });
  });
  app.get('/rooms/:room/stream', (request, response) => stream(room(request.params.room), seen, request, response));
  app.get('/rooms/:room/poll', (request, response) => poll(room(request.params.room), seen, request, response));
  app.use((error, request, response, next) => (response.headersSent ? next(error) : response.status(500).send(error.message)));

  const http = await new Promise((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const close = () => new Promise((resolve) => (http.close(resolve), http.closeAllConnections()));
  return { url: `http://127.0.0.1:${http.address().port}`, seen, close };
}

class Room extends EventEmitter {
  log = [];

  constructor() {
    super();
    this.setMaxListeners(0);
  }

  add(content) {
    const id = this.log.push({ id: this.log.length + 1, content });
    this.emit('news', this.log.at(-1));
    return id;
  }
}

/**
 * An event stream. In the query: `dress` and `lines`; `ends=n` ends it behind n events; `breaks=n` breaks it off in the middle
 * of the next one, or resets its connection with `how=reset`; `gone=n` answers 204 to who has n already; `refuse=n`
 * answers a user's first stream with this status, `refuse_again=n` its second and third; `type` is another content type;
 * `greet` begins with a named event.
 */
function stream(room, seen, request, response) {
  const { dress = 'plain', lines = 'lf', ends, breaks, how, greet, type = 'text/event-stream; charset=utf-8' } = request.query;
  const user = request.get('x-user');
  const lastEventId = request.get('last-event-id');
  const nth = seen.streams.filter((one) => one.user === user).length + 1;
  const told = [];
  seen.streams.push({ user, lastEventId, told });
  const refusal = refusalOf(request.query, nth, Number(lastEventId ?? 0));
  if (refusal) return response.status(refusal).end(refusal === 204 ? undefined : 'not today');

  response.status(200).set({ 'content-type': type, 'cache-control': 'no-store' });
  const write = (text) => inPieces(response, text.replaceAll('\n', LINES[lines]));
  const from = Number(lastEventId ?? room.log.length);
  write(`\ufeff: welcome\nretry: 20\nid: ${from}\n\n`);
  if (greet) write('event: located\ndata: {"place":\ndata:{"lat": 37.5,\ndata:  "name": "서울"}\ndata: }\n\n');

  let isOver = false;
  const leave = () => {
    isOver = true;
    room.off('news', tell);
  };
  const tell = (event) => {
    if (isOver) return;
    if (told.length === Number(breaks)) {
      leave();
      breakOff(response, DRESSES[dress](event), how);
      return;
    }
    write(DRESSES[dress](event));
    told.push(event.id);
    if (told.length === Number(ends)) {
      leave();
      response.end();
    }
  };
  room.on('news', tell);
  response.on('close', leave);
  room.log.slice(from).forEach(tell);
}

function refusalOf({ refuse, refuse_again: again, gone }, nth, has) {
  if (refuse && nth === 1) return Number(refuse);
  if (again && (nth === 2 || nth === 3)) return Number(again);
  return has >= Number(gone) ? 204 : undefined;
}

/** Seven bytes at a time: lines, characters and CR LF are torn apart. */
function inPieces(response, text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
}

function breakOff(response, event, how) {
  if (how === 'reset') response.socket.resetAndDestroy();
  else response.write(event.slice(0, event.length / 2), () => response.destroy());
}

/**
 * A poll. In the query: `after`, without which it is answered at once; `hold` is how long it waits (ms); `expiry` how it is
 * answered then; `shape=list` answers with the messages alone, the cursor in x-next. `refuse=n` answers every n-th poll of a
 * user with `status`, `refuse=all` the first as well; `breaks=n` breaks every n-th off if it is answered with messages.
 */
function poll(room, seen, request, response) {
  const { after, hold = '0', expiry = '204', shape, refuse, breaks, status = '500' } = request.query;
  const user = request.get('x-user');
  const note = (what) => seen.polls.push({ user, after, status: response.statusCode, ...what });
  const nth = seen.polls.filter((one) => one.user === user).length + 1;
  const isNth = (n) => after !== undefined && nth % Number(n) === 0;
  if (refuse === 'all' || isNth(refuse)) {
    response.status(Number(status)).send('a handler that fails');
    return note({ is: 'refused' });
  }
  const answer = () => {
    const next = room.log.length;
    const messages = room.log.slice(Number(after ?? next)).map(({ content }) => content);
    if (isNth(breaks)) {
      response.set('content-length', '1000').write('{"messages":[');
      response.socket.destroySoon();
      return note({ is: 'broken off' });
    }
    response.set('x-next', `${next}`).json(shape === 'list' ? messages : { messages, next });
    return note({ is: messages.length > 0 ? 'news' : 'empty', next });
  };
  if (after === undefined || Number(after) < room.log.length) return answer();
  const settle = (how) => {
    clearTimeout(overdue);
    room.off('news', onNews);
    how();
  };
  const onNews = () => settle(answer);
  const expire = () => {
    EXPIRIES[expiry](response);
    note({ is: 'empty' });
  };
  const overdue = setTimeout(() => settle(expire), Number(hold));
  room.once('news', onNews);
  return response.on('close', () => settle(() => {}));
}
