// The services that host.mjs puts behind nginx: the report's, on NestJS, and `sonagi serve`. Each says which remedies
// change anything of it, which tables it finds, and how its processes are started: `start` gives their ports.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { freePort, isOpen } from '../../../interop/support/ports.mjs';
import { SONAGI } from '../../../interop/support/process.mjs';
import { ready } from '../../bottlenecks/lib/started.mjs';
import { built } from '../../nest/lib/built.mjs';
import { stored } from '../../nest/lib/passwords.mjs';
import { CHANGES } from './remedies.mjs';

/** user0@example.test to user1999@example.test, in either service. */
const USERS = 2_000;
const FRIENDS = 20;
/** What the accounts of `sonagi serve` have. */
const PASSWORD = 'password';
/** What a login hashes: as much as when the peak of chat.yml was chosen. The reports do not say what theirs did. */
const PBKDF2 = { rounds: 20_000, bytes: 32 };
/** Argon2id over so much memory takes about as long: 13 ms of a core where both were tried. */
const ARGON2_KIB = 24_576;

const ROLES = `
  CREATE ROLE service LOGIN PASSWORD 'planted-1'; GRANT ALL ON SCHEMA public TO service;
  CREATE ROLE watcher LOGIN PASSWORD 'planted-1'; GRANT pg_monitor TO watcher`;

/** By the value of SERVICE. What one of them needs and does not find is an error before anything is started. */
export const SERVICES = { nest, sonagi };

function nest() {
  const main = built('chat');
  const last = USERS - 1;
  const tables = `${ROLES};
    CREATE TABLE users (id int PRIMARY KEY, email text NOT NULL UNIQUE, password text NOT NULL);
    INSERT INTO users
      SELECT n, 'user' || n || '@example.test', '${stored(PASSWORD, PBKDF2)}' FROM generate_series(0, ${last}) n;
    CREATE TABLE friends (who int NOT NULL, friend int NOT NULL, PRIMARY KEY (who, friend));
    INSERT INTO friends
      SELECT n, (n + k) % ${USERS} FROM generate_series(0, ${last}) n, generate_series(1, ${FRIENDS}) k;
    CREATE TABLE rooms (id serial PRIMARY KEY, one int NOT NULL, other int NOT NULL, UNIQUE (one, other));
    CREATE TABLE messages (id serial PRIMARY KEY, room int NOT NULL, author int NOT NULL, content text NOT NULL);
    GRANT ALL ON ALL TABLES IN SCHEMA public TO service; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO service`;
  return { remedies: CHANGES, tables, start: startNest };

  async function startNest(started, { database, pool, cache = '', count }) {
    // Each process takes a free port.
    const env = { ...process.env, PORT: '0', POSTGRES: database, POOL: pool, REDIS: cache };
    const processes = Array.from({ length: count }, () => fork(main, { env }));
    started.atEnd(() => processes.forEach((child) => child.kill('SIGKILL')));
    for (const child of processes) child.on('exit', (code, signal) => endWith(started, code ?? signal));
    const ports = await Promise.all(processes.map(async (child) => (await once(child, 'message'))[0].port));
    // What is said in one process is heard by the users of the others.
    for (const child of processes) {
      const others = () => processes.filter((other) => other !== child && other.connected);
      child.on('message', (said) => others().forEach((other) => other.send(said)));
    }
    return ports;
  }
}

/**
 * It makes its tables itself. One process has a thread for each core, and all users and friends in memory: several
 * processes or a cache are no remedies for it. Nor is a pool of transactions (PgBouncer), in which its prepared
 * statements would be lost.
 */
function sonagi() {
  return { remedies: ['nginx', 'services', 'postgres', 'pool'], tables: ROLES, start: startSonagi };

  async function startSonagi(started, { database, pool }) {
    if (!process.env.SONAGI_BIN?.startsWith('/')) {
      throw new Error('SONAGI_BIN must be the absolute path of a release build of Sonagi: it is the service');
    }
    const port = await freePort();
    // The users that it seeds begin with user1.
    const users = ['--seed-users', USERS - 1, '--account', `user0@example.test:${PASSWORD}`];
    const store = ['--store', database, '--pool', pool, '--password-cost', ARGON2_KIB];
    const argv = [SONAGI, 'serve', '--listen', `127.0.0.1:${port}`, ...store, ...users];
    const server = started.spawn(argv, { quietly: false });
    await ready('sonagi serve', server, () => isOpen(port));
    server.ended.then((code) => endWith(started, code));
    return [port];
  }
}

/** A service that ends takes its host with it. */
function endWith(started, code) {
  console.error(`a process of the service ended: ${code}`);
  started.endAtOnce();
  process.exit(1);
}
