// The reference service in the place of `service.mjs`: its logins and lists, from PostgreSQL through a pool of DB_POOL
// connections. It brings its own database as well. What takes 50 ms here is the way to that and back, as to one far
// away; its lists themselves are quick.
import { SONAGI } from '../../interop/support/process.mjs';
import { Started, endAllWhenInterrupted } from '../bottlenecks/lib/started.mjs';
import { postgres } from '../bottlenecks/services/postgres.mjs';
import { relay } from '../bottlenecks/services/relay.mjs';

/** It makes its tables itself; Sonagi watches as `watcher`. */
const ROLES = `
  CREATE ROLE service LOGIN PASSWORD 'planted-1'; GRANT ALL ON SCHEMA public TO service;
  CREATE ROLE watcher LOGIN PASSWORD 'planted-1'; GRANT pg_monitor TO watcher`;
const ONE_WAY_MS = 25;
/** All users of the load log in to one account. */
const ACCOUNT = 'test@test.com:1234';
const LOGINS_A_SECOND = 200;

endAllWhenInterrupted();
const started = new Started();
const database = new URL((await postgres(started, { tables: ROLES })).url);
database.port = await relay(started, { to: Number(database.port), delayMs: ONE_WAY_MS });
const { PORT, DB_POOL } = process.env;
const store = ['--store', database.href, '--pool', DB_POOL];
const users = ['--seed-users', 2000, '--account', ACCOUNT, '--login-rate', LOGINS_A_SECOND];
const argv = [SONAGI, 'serve', '--listen', `127.0.0.1:${PORT}`, ...store, ...users];
const service = started.spawn(argv, { quietly: false });
const code = await service.ended;
console.error(`sonagi serve ended with ${code}: ${service.output()}`);
await started.end();
process.exitCode = 1;
