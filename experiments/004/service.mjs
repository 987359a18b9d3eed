// The service of the report: logins, and lists of users from PostgreSQL through a pool. It brings its own database, so
// that each run begins with the same one.
//
// | variable | |
// |---|---|
// | PORT | where it listens |
// | DB_POOL | how many connections the pool may have |
// | DB_POOL_TIMEOUT_MS | how long a request waits for one of them; indefinitely without it |
// | DB_CONNECTIONS | how many the database allows, three of them for its superuser; without it 100, as PostgreSQL does |
// | LISTS | what a list costs the database: `wait` (without it) or `work`, below |
import { createServer } from 'node:http';
import { pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import pg from '../bottlenecks/node_modules/pg/lib/index.js';
import { Started, endAllWhenInterrupted } from '../bottlenecks/lib/started.mjs';
import { postgres } from '../bottlenecks/services/postgres.mjs';

/** Statements of a login and of a list; those of one request go one after the other over one connection. */
const KINDS = {
  // A list takes 50 ms and no work, as one over a network or from a disk does: what is compared is how many of them may
  // be asked for at a time.
  wait: { users: 2_000, login: [], list: ['SELECT id, email FROM users, pg_sleep(0.05) ORDER BY id LIMIT 20'] },
  // The report's eleven statements of a user: a page of users and how many there are, as TypeORM's `findAndCount` asks.
  // Both read the whole table: what is compared is how many of them a database should work on at a time.
  work: {
    users: 50_000,
    login: ["SELECT id FROM users WHERE email = 'user7@example.test'"],
    list: ['SELECT id, email, sponsor FROM users ORDER BY created DESC, id LIMIT 20', 'SELECT count(*) FROM users'],
  },
};

const { PORT, DB_POOL, DB_POOL_TIMEOUT_MS = 0, DB_CONNECTIONS = 100, LISTS = 'wait' } = process.env;
const kind = KINDS[LISTS];
if (!kind) throw new Error(`LISTS is one of ${Object.keys(KINDS).join(', ')}; got ${LISTS}`);
const TABLES = `
  CREATE TABLE users (id int PRIMARY KEY, email text NOT NULL UNIQUE, sponsor int, created timestamptz NOT NULL);
  INSERT INTO users
    SELECT n, 'user' || n || '@example.test', nullif(n % 3, 0), now() - n * 7919 % ${kind.users} * interval '1 minute'
    FROM generate_series(1, ${kind.users}) n;
  CREATE ROLE service LOGIN PASSWORD 'planted-1'; GRANT ALL ON ALL TABLES IN SCHEMA public TO service;
  CREATE ROLE watcher LOGIN PASSWORD 'planted-1'; GRANT pg_monitor TO watcher;
  VACUUM ANALYZE users`;

endAllWhenInterrupted();
const started = new Started();
const database = await postgres(started, { tables: TABLES, settings: { max_connections: DB_CONNECTIONS } });
const limits = { max: Number(DB_POOL), connectionTimeoutMillis: Number(DB_POOL_TIMEOUT_MS) };
const pool = new pg.Pool({ connectionString: database.url, ...limits });
// A connection that the database ends while nobody uses it, as when both are ended, is not an error of the service.
pool.on('error', () => {});
const hash = promisify(pbkdf2);
const salt = randomBytes(16);

/** What statements give, over one connection. */
async function asked(statements) {
  const client = await pool.connect();
  try {
    const answers = [];
    for (const statement of statements) answers.push(await client.query(statement));
    client.release();
    return answers;
  } catch (error) {
    client.release(error);
    throw error;
  }
}

async function list() {
  const [page, total] = await asked(kind.list);
  return { users: page.rows, total: total?.rows[0].count };
}

const routes = {
  'GET /healthz': async () => (await asked(['SELECT 1'])).length,
  async 'POST /api/auth/login'() {
    if (kind.login.length > 0) await asked(kind.login);
    return { token: (await hash('1234', salt, 1_000, 16, 'sha512')).toString('hex') };
  },
  'GET /api/user/list-all': list,
  'GET /api/user/list': list,
};

const server = createServer(async (request, response) => {
  const route = routes[`${request.method} ${request.url.split('?')[0]}`];
  const json = { 'content-type': 'application/json' };
  const answer = (status, body) => response.writeHead(status, json).end(JSON.stringify(body));
  request.resume();
  try {
    if (route) answer(200, await route());
    else answer(404, { error: 'no such page' });
  } catch (error) {
    answer(500, { error: error.message });
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${PORT}, a pool of ${DB_POOL}`));
