// Targets that are several programs: the service with its store in PostgreSQL, one instance or three that hear each other over Redis. CPU and memory
// of such a target are those of all of its programs together.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { program } from '../../experiments/stack/lib/stack.mjs';
import { TOOL_CORE } from '../lib/cores.mjs';
import { BINARY, version as ours } from '../tools/sonagi.mjs';

const KEEPER = fileURLToPath(new URL('../lib/stack-keeper.mjs', import.meta.url));

/** The version a server of Debian's tells of itself. */
const told = (name) => execFileSync(program(name), ['--version'], { encoding: 'utf8' }).match(/\d+\.\d+(\.\d+)?/)[0];

const stack = (name, words, { bus }) => ({
  name,
  /** Sonagi itself is built for its own rows; Debian's packages are there or not. */
  async install() {
    for (const one of ['postgres', 'initdb', ...(bus ? ['redis-server'] : [])]) program(one);
  },
  version: async () => [await ours(), `PostgreSQL ${told('postgres')}`, ...(bus ? [`Redis ${told('redis-server')}`] : [])].join(', '),
  env: { SONAGI_BIN: BINARY },
  argv: () => [process.execPath, KEEPER, ...words],
  keeps: true,
  ready_ms: 60_000,
  farewell_ms: 40_000,
  /** Those of the first instance. */
  metrics: { messages: 'chat_messages_total', commits: 'chat_commits_total', copies: 'chat_deliveries_total' },
});

/** PostgreSQL has the target's core for itself: the service is its client there, as pgbench is. */
export const appends = stack('serve-postgres-apart', ['--instances', 1, '--no-bus', '--apart', TOOL_CORE], { bus: false });
export const one = stack('serve-postgres', ['--instances', 1, '--no-bus'], { bus: false });
export const heard = stack('serve-postgres-redis', ['--instances', 1], { bus: true });
export const three = stack('serve-postgres-redis-3', ['--instances', 3], { bus: true });
