// What the parts of a stack hold of people, by their own word: connections, subscriptions, sessions.
import { execFileSync } from 'node:child_process';
import { census } from './census.mjs';

const SESSIONS = `SELECT coalesce(state, 'none') || ' ' || count(*) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY state`;

/** What the asker itself is of what is counted: one connection to the page that tells it. */
const ASKER = 1;

/** The service's metrics of people who are there; of several lines with labels the sum counts. */
const OF_PEOPLE = [
  'chat_sockets_open',
  'chat_socketio_connected',
  'chat_stomp_connected',
  'chat_connections',
  'chat_bus_subscriptions',
];

/** The sum of the lines of a metric in Prometheus' text. One that is not told is an error: it would read as zero. */
export function metric(text, name) {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  if (lines.length === 0) throw new Error(`an instance tells no ${name}`);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** `{ name: figure }`, flat, of a running stack (experiments/stack). */
export async function holdings({ addresses }) {
  const { instances, redis, postgres, watch, pids } = addresses;
  const found = {};
  let pooled = 0;
  for (const [at, url] of instances.entries()) {
    const name = `instance-${at + 1}`;
    const page = await textOf(`${url}/metrics`);
    for (const one of OF_PEOPLE) found[`${name} ${one}`] = metric(page, one);
    found[`${name} chat_sockets_open`] -= ASKER;
    const pool = metric(page, 'chat_store_pool_size');
    found[`${name} descriptors beside its pool`] = descriptorsOf(pids[name]) - pool;
    pooled += pool;
  }
  const status = await textOf(watch.find((one) => one.startsWith('nginx:')).slice('nginx:'.length).split('#')[0]);
  found['nginx connections'] = Number(status.match(/Active connections: (\d+)/)[1]) - ASKER;
  return { ...found, ...ofRedis(redis), ...ofPostgres(postgres, pooled) };
}

const textOf = async (url) => (await fetch(url, { headers: { connection: 'close' } })).text();

const descriptorsOf = (pid) => census({ one: pid }).find((one) => one.pid === pid).descriptors;

const linesOf = (text) => text.trim().split('\n').filter(Boolean);

function ofRedis(address) {
  const { port } = new URL(address);
  const ask = (...words) => linesOf(execFileSync('redis-cli', ['-p', port, ...words], { encoding: 'utf8' }));
  const channels = ask('PUBSUB', 'CHANNELS');
  return {
    'redis clients': ask('CLIENT', 'LIST').length - ASKER,
    'redis channels': channels.length,
    'redis channels of rooms': channels.filter((name) => name.includes(':room:')).length,
  };
}

function query(address, sql) {
  const at = new URL(address);
  // Not in the list of processes.
  const env = { ...process.env, PGPASSWORD: at.password };
  at.password = '';
  return linesOf(execFileSync('psql', [at.href, '-XAtc', sql], { encoding: 'utf8', env }));
}

/**
 * Has PostgreSQL write down now what it would write after five minutes: the first time, its checkpointer takes the memory that
 * it keeps for all times after it.
 */
export const checkpoint = (address) => query(address, 'CHECKPOINT');

/** Sessions that no pool knows are lost ones; those that a pool keeps for the next work are not. */
function ofPostgres(address, pooled) {
  const states = query(address, SESSIONS);
  const counts = Object.fromEntries(states.map((line) => line.match(/^(.*) (\d+)$/).slice(1)));
  const all = Object.values(counts).reduce((sum, count) => sum + Number(count), 0);
  return {
    'postgres sessions that no pool has': all - pooled,
    'postgres sessions at work': all - Number(counts.idle ?? 0),
  };
}

/** What of `after` is more than it was before, as texts. */
export const left = (before, after) =>
  Object.entries(after)
    .filter(([name, figure]) => figure > before[name])
    .map(([name, figure]) => `${name}: ${figure}, at first ${before[name]}`);
