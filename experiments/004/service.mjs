// The service of the report: logins, and lists of users from PostgreSQL through a pool of DB_POOL connections. It brings its own
// database, so that each run begins with the same one. A list takes 50 ms in the database, as one over a network or from a disk does:
// what is compared is how many of them may be asked at a time.
import { createServer } from 'node:http';
import { pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import pg from '../bottlenecks/node_modules/pg/lib/index.js';
import { Started, endAllWhenInterrupted } from '../bottlenecks/lib/started.mjs';
import { postgres } from '../bottlenecks/services/postgres.mjs';

const TABLES = `
  CREATE TABLE users (id int PRIMARY KEY, email text NOT NULL, sponsor int);
  INSERT INTO users SELECT n, 'user' || n || '@example.test', nullif(n % 3, 0) FROM generate_series(1, 2000) n;
  CREATE ROLE service LOGIN PASSWORD 'planted-1'; GRANT ALL ON ALL TABLES IN SCHEMA public TO service;
  CREATE ROLE watcher LOGIN PASSWORD 'planted-1'; GRANT pg_monitor TO watcher`;
const LIST = 'SELECT id, email FROM users, pg_sleep(0.05) ORDER BY id LIMIT 20';

endAllWhenInterrupted();
const started = new Started();
const database = await postgres(started, { tables: TABLES });
const pool = new pg.Pool({ connectionString: database.url, max: Number(process.env.DB_POOL) });
const hash = promisify(pbkdf2);
const salt = randomBytes(16);

const routes = {
  'GET /healthz': async () => (await pool.query('SELECT 1')).rowCount,
  'POST /api/auth/login': async () => ({ token: (await hash('1234', salt, 1_000, 16, 'sha512')).toString('hex') }),
  'GET /api/user/list-all': async () => (await pool.query(LIST)).rows,
  'GET /api/user/list': async () => (await pool.query(LIST)).rows,
};

const server = createServer(async (request, response) => {
  const route = routes[`${request.method} ${request.url.split('?')[0]}`];
  const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  request.resume();
  try {
    if (route) answer(200, await route());
    else answer(404, { error: 'no such page' });
  } catch (error) {
    answer(500, { error: error.message });
  }
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(`listening on ${server.address().port}, a pool of ${process.env.DB_POOL}`));
