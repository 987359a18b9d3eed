// A chat-like service on Node: logins, lists from PostgreSQL, sessions in Redis, rooms over Socket.IO. Its environment sets every size
// that a bottleneck can be planted in; what is not set is healthy.
import { createServer } from 'node:http';
import { createHash, pbkdf2, pbkdf2Sync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { collectDefaultMetrics, register } from 'prom-client';
import { createClient } from 'redis';
import { Server } from 'socket.io';

const number = (name, usual) => Number(process.env[name] ?? usual);
const rounds = number('HASH_ROUNDS', 2_000);
const blockMs = number('BLOCK_MS', 0);
const keptKb = number('KEPT_KB', 0);
const diesAfter = number('DIES_AFTER', Infinity);
const hash = promisify(pbkdf2);
const salt = randomBytes(16);

const pool = process.env.POSTGRES && new pg.Pool({ connectionString: process.env.POSTGRES, max: number('POOL', 20) });
// A connection that the server ends while it is idle is an event of the pool; unheard, it would end the process.
pool?.on('error', () => {});
const redis = process.env.REDIS && (await connected(createClient({ url: process.env.REDIS })));
const kept = [];
let asked = 0;

async function connected(client) {
  client.on('error', () => {});
  await client.connect();
  return client;
}

const routes = {
  '/ping': () => ({ ok: true }),

  /** Hashes a password: in libuv's threads, or in the loop itself. */
  async '/login'() {
    const password = randomBytes(8);
    if (process.env.HASH === 'sync') pbkdf2Sync(password, salt, rounds, 32, 'sha512');
    else await hash(password, salt, rounds, 32, 'sha512');
    return { token: randomBytes(16).toString('hex') };
  },

  /** A statement that takes its time without a core: it reads from a disk or from far away. */
  async '/list'() {
    const { rows } = await pool.query('SELECT id, body FROM messages WHERE id <= 20 AND pg_sleep(0.05) IS NOT NULL LIMIT 1');
    return rows;
  },

  /** What somebody has written: by the index on `author`, if there is one. */
  async '/by'() {
    const author = 1 + Math.floor(Math.random() * 2_000);
    const { rows } = await pool.query('SELECT count(*) FROM messages WHERE author = $1', [author]);
    return rows;
  },

  /** Counts a view, and tells somebody else of it before the transaction ends. */
  async '/view'() {
    const client = await pool.connect();
    try {
      const room = process.env.LOCKS === 'one row' ? 1 : 1 + Math.floor(Math.random() * 1_000);
      await client.query('BEGIN');
      await client.query('UPDATE rooms SET views = views + 1 WHERE id = $1', [room]);
      await delay(30);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    return { ok: true };
  },

  /** Who asks, and when they did last: two round trips. */
  async '/session'() {
    const name = `session:${Math.floor(Math.random() * 100)}`;
    await redis.get(name);
    await redis.set(name, Date.now());
    return { name };
  },

  /** Listens to news for the next second: over a Redis connection of its own, or over the shared one. */
  async '/listen'() {
    if (process.env.SUBSCRIPTIONS !== 'each its own') return { listening: true };
    const own = redis.duplicate({ socket: { host: new URL(process.env.REDIS).hostname, port: Number(new URL(process.env.REDIS).port), reconnectStrategy: false } });
    await connected(own);
    await own.subscribe('news', () => {});
    setTimeout(() => own.destroy(), 1_000);
    return { listening: true };
  },

  /** Keeps something of every request, which nothing ever frees. */
  '/upload'() {
    kept.push(Buffer.alloc(keptKb * 1024, 1));
    return { kept: kept.length };
  },
};

collectDefaultMetrics();
const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://service');
  const answer = (status, type, text) => response.writeHead(status, { 'content-type': type }).end(text);
  if (pathname === '/metrics') return answer(200, register.contentType, await register.metrics());
  asked += 1;
  if (asked > diesAfter) throw new Error('a message nobody expected');
  try {
    const route = routes[pathname];
    if (!route) return answer(404, 'text/plain', 'no such page\n');
    answer(200, 'application/json', JSON.stringify(await route()));
  } catch (error) {
    answer(500, 'text/plain', `${error.message}\n`);
  }
});

const namespace = new Server(server, { transports: ['websocket'] }).on('connection', (socket) => {
  socket.on('join', (room, done) => (socket.join(room), done({ ok: true })));
  // Through Redis, as instances of a service tell one another; this is the only one.
  socket.on('say', (room, text) => (redis ? redis.publish('said', JSON.stringify([room, text])) : said(socket.nsp, room, text)));
});

/** A copy for each member: the same for all, or made for its receiver, with a digest of whom it knows of all that are there. */
function said(namespace, room, text) {
  if (process.env.COPIES !== 'each its own') return namespace.to(room).emit('said', text);
  for (const id of namespace.adapter.rooms.get(room) ?? []) {
    const members = Array.from({ length: 1_000 }, (_, member) => ({ member, name: `member ${member}`, isKnown: id.charCodeAt(member % 20) % 2 }));
    namespace.sockets.get(id)?.emit('said', text, createHash('sha1').update(JSON.stringify(members)).digest('hex'));
  }
}

if (redis) {
  const ears = await connected(redis.duplicate());
  await ears.subscribe('said', (message) => said(namespace, ...JSON.parse(message)));
}

if (blockMs > 0) {
  setInterval(() => {
    for (const until = performance.now() + blockMs; performance.now() < until; );
  }, 1_000);
}

server.listen({ port: number('PORT', 0), host: '127.0.0.1', backlog: number('BACKLOG', 511) }, () => {
  console.log(`listening on ${server.address().port}`);
});
