// The service of the report, on NestJS and TypeORM (../nest/src/lists), with a database of its own, so that each run begins with the
// same one.
//
// | variable | |
// |---|---|
// | PORT | where it listens |
// | DB_POOL | how many connections the pool may have |
// | DB_POOL_TIMEOUT_MS | how long a request waits for one of them; indefinitely without it |
// | DB_CONNECTIONS | how many the database allows, three of them for its superuser; without it 100, as PostgreSQL does |
// | LISTS | what a list costs the database: `wait` (without it) or `work`, below |
import { Started, endAllWhenInterrupted } from '../bottlenecks/lib/started.mjs';
import { postgres } from '../bottlenecks/services/postgres.mjs';
import { built } from '../nest/lib/built.mjs';
import { stored } from '../nest/lib/passwords.mjs';

/** How many users there are. */
const USERS = {
  // A list takes 50 ms and no work, as one over a network or from a disk does: what is compared is how many of them may
  // be asked for at a time.
  wait: 2_000,
  // The report's eleven statements of a user: one of the login, and for each list a page of users and how many there are
  // (`findAndCount`). Both read the whole table: what is compared is how many of them a database should work on at a time.
  work: 50_000,
};

const { DB_CONNECTIONS = 100, LISTS = 'wait' } = process.env;
const users = USERS[LISTS];
if (!users) throw new Error(`LISTS is one of ${Object.keys(USERS).join(', ')}; got ${LISTS}`);
const main = built('lists');
// All users of the load log in to one account, and nobody to the others. A password is hashed in a millisecond, as the pool is
// what is asked about.
const PASSWORD = stored('1234', { rounds: 1_000, bytes: 16 });
const TABLES = `
  CREATE TABLE users (id int PRIMARY KEY, email text NOT NULL UNIQUE, sponsor int, created timestamptz NOT NULL, password text);
  INSERT INTO users
    SELECT n, 'user' || n || '@example.test', nullif(n % 3, 0), now() - n * 7919 % ${users} * interval '1 minute'
    FROM generate_series(1, ${users}) n;
  INSERT INTO users VALUES (0, 'test@test.com', NULL, now() - interval '1 year', '${PASSWORD}');
  CREATE ROLE service LOGIN PASSWORD 'planted-1'; GRANT ALL ON ALL TABLES IN SCHEMA public TO service;
  CREATE ROLE watcher LOGIN PASSWORD 'planted-1'; GRANT pg_monitor TO watcher;
  VACUUM ANALYZE users`;

endAllWhenInterrupted();
const started = new Started();
const database = await postgres(started, { tables: TABLES, settings: { max_connections: DB_CONNECTIONS } });
// PORT, LISTS and the settings of the pool are the service's own, and reach it as they are.
const service = started.spawn([process.execPath, main], { env: { POSTGRES: database.url }, quietly: false });
const code = await service.ended;
console.error(`the service ended with ${code}: ${service.output()}`);
await started.end();
process.exitCode = 1;
