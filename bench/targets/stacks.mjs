// Targets that are several programs: the service with its store in PostgreSQL, one instance or three that hear each
// other over Redis. CPU and memory of such a target are those of all of its programs together.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { program } from '../../experiments/stack/lib/stack.mjs';
import { TOOL_CORE } from '../lib/cores.mjs';
import { BINARY, version as ours } from '../tools/sonagi.mjs';

const KEEPER = fileURLToPath(new URL('../lib/stack-keeper.mjs', import.meta.url));

const SERVERS = { postgres: 'PostgreSQL', 'redis-server': 'Redis' };
/** The version that a server tells of itself. */
function told(server) {
  const [version] = execFileSync(program(server), ['--version'], { encoding: 'utf8' }).match(/\d+\.\d+(\.\d+)?/);
  return `${SERVERS[server]} ${version}`;
}

const stack = (name, servers, words) => ({
  name,
  /** Sonagi itself is built for its own rows; Debian's packages are there or not. */
  install: async () => void servers.map(program),
  version: async () => [await ours(), ...servers.map(told)].join(', '),
  env: { SONAGI_BIN: BINARY },
  argv: () => [process.execPath, KEEPER, ...words],
  keeps: true,
  ready_ms: 60_000,
  farewell_ms: 40_000,
  /** Those of the first instance. */
  metrics: { messages: 'chat_messages_total', commits: 'chat_commits_total', copies: 'chat_deliveries_total' },
});

const [STORE, BUS] = [['postgres'], ['postgres', 'redis-server']];

/** PostgreSQL has the target's core for itself: the service is its client there, as pgbench is. */
export const appends = stack('serve-postgres-apart', STORE, ['--no-bus', '--apart', TOOL_CORE]);
export const one = stack('serve-postgres', STORE, ['--no-bus']);
export const heard = stack('serve-postgres-redis', BUS, []);
export const three = stack('serve-postgres-redis-3', BUS, ['--instances', 3]);
