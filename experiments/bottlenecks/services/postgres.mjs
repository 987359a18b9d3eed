// A PostgreSQL of a run's own. The cluster with its tables is made once for all runs; each gets a copy.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, isOpen } from '../../../interop/support/ports.mjs';
import { installed } from '../lib/installed.mjs';
import { NOBODY, Started, ready } from '../lib/started.mjs';

const PASSWORD = 'planted-1';
const TABLES = `
  CREATE TABLE messages (id int PRIMARY KEY, author int NOT NULL, body text NOT NULL);
  INSERT INTO messages SELECT n, n % 2000 + 1, repeat('a word ', 6) FROM generate_series(1, 300000) n;
  CREATE INDEX messages_author ON messages (author);
  CREATE TABLE rooms (id int PRIMARY KEY, views int NOT NULL) WITH (fillfactor = 50);
  INSERT INTO rooms SELECT n, 0 FROM generate_series(1, 1000) n;
  ALTER DATABASE postgres SET max_parallel_workers_per_gather = 0;
  CREATE ROLE service LOGIN PASSWORD '${PASSWORD}'; GRANT ALL ON ALL TABLES IN SCHEMA public TO service;
  CREATE ROLE watcher LOGIN PASSWORD '${PASSWORD}'; GRANT pg_monitor TO watcher;
  VACUUM ANALYZE;`;

let template;

/**
 * Starts one: `{ url, watch }`, for the service and for Sonagi, on a free port unless one is given. `settings` as in postgresql.conf; `sql`
 * is run before, and `before` are words in front of its command. The first call's `tables` are in all.
 */
export async function postgres(started, { port, settings = {}, sql = [], before = [], tables = TABLES } = {}) {
  template ??= await made(tables);
  const folder = join(started.folder, 'postgres');
  execFileSync('cp', ['-a', template, folder]);
  return serve(started, folder, { port, settings, sql, before });
}

/** Makes the cluster that runs copy; it is removed with the process that made it. */
async function made(tables) {
  const keeper = new Started();
  const folder = join(keeper.folder, 'postgres');
  mkdirSync(folder);
  const password = join(keeper.folder, 'password');
  writeFileSync(password, PASSWORD);
  for (const path of [folder, password]) own(path);
  const words = ['-D', folder, '-U', 'postgres', '-A', 'scram-sha-256', '--no-sync', '-E', 'UTF8', `--pwfile=${password}`];
  const initdb = keeper.spawn([program('initdb'), ...words], { unprivileged: true });
  if ((await initdb.ended) !== 0) throw new Error(`initdb failed: ${initdb.output()}`);
  const { stop } = await serve(keeper, folder, { sql: tables.split(';').filter((line) => line.trim()) });
  await stop();
  process.once('exit', () => keeper.endAtOnce());
  return folder;
}

async function serve(started, folder, { port: asked, settings = {}, sql = [], before = [] }) {
  const port = asked ?? (await freePort());
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, fsync: 'off', shared_buffers: '64MB', ...settings };
  const words = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // SIGQUIT ends it without a checkpoint: nobody needs its files again. The template's do, and are stopped by SIGINT.
  const argv = Object.assign([program('postgres'), '-D', folder, '-p', port, ...words], { farewell: 'SIGQUIT' });
  const server = started.spawn(argv, { unprivileged: true, before });
  await ready('PostgreSQL', server, () => isOpen(port));
  const url = (user) => `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  if (sql.length > 0) await run(url('postgres'), server, sql);
  return { url: url('service'), watch: url('watcher'), stop: () => server.stop('SIGINT') };
}

async function run(url, server, sql) {
  // A server that listens may still be starting up.
  const client = await ready('PostgreSQL', server, async () => {
    const client = new pg.Client({ connectionString: url });
    return client.connect().then(() => client, () => false);
  });
  for (const line of sql) await client.query(line);
  await client.end();
}

function own(path) {
  if (process.getuid() === 0) chownSync(path, NOBODY, NOBODY);
}

/** Debian keeps PostgreSQL's server off the PATH, in a folder of its version. */
function program(name) {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
  return installed(name, versions.map((version) => join(debian, version, 'bin')));
}
