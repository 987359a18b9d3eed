import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isOpen } from '../../../interop/support/ports.mjs';
import { installed } from '../../bottlenecks/lib/installed.mjs';
import { NOBODY, ready } from '../../bottlenecks/lib/started.mjs';

/**
 * Starts a PgBouncer before a PostgreSQL, whose URL this is: its own URL. A connection of the database is a client's for one transaction
 * (unnamed prepared statements work so, and TypeORM has no others); there are at most `connections` of them.
 */
export async function pgbouncer(started, { database, connections }) {
  const { username, password, hostname, port: to, pathname } = new URL(database);
  const folder = join(started.folder, 'pgbouncer');
  const [users, settings] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')];
  const port = await freePort();
  mkdirSync(folder);
  // The password is for the database: PgBouncer asks none of its clients, which are programs of this machine.
  writeFileSync(users, `"${username}" "${password}"\n`);
  writeFileSync(
    settings,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${to} dbname=${pathname.slice(1)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir = ${folder}
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 200
`,
  );
  // As root it refuses to run, and it makes its socket in this folder.
  if (process.getuid() === 0) for (const path of [folder, users, settings]) chownSync(path, NOBODY, NOBODY);
  const server = started.spawn([installed('pgbouncer', ['/usr/sbin']), settings], { unprivileged: true });
  await ready('PgBouncer', server, () => isOpen(port));
  return `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
}
