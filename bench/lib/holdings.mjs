// What the parts of a stack hold of people, by their own word: connections, subscriptions, sessions.
import { execFileSync } from 'node:child_process';
import { census } from './census.mjs';

const SESSIONS = `SELECT coalesce(state, 'none') || ' ' || count(*) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY state`;

/** What the asker itself is of what is counted: one connection to the page that tells it. */
const ASKER = 1;

/** The service's metrics of people who are there; each is a name, or begins one with labels. */
const OF_PEOPLE = ['chat_sockets_open', 'chat_socketio_connected', 'chat_stomp_connected', 'chat_connections', 'chat_bus_subscriptions'];

/** The sum of the lines of a metric in Prometheus' text; one that is not told is an error: it would read as nothing being there. */
export function metric(text, name) {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  if (lines.length === 0) throw new Error(`an instance tells no ${name}`);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** `{ name: figure }`, flat, of a running stack (experiments/stack). */
export async function holdings({ addresses }) {
  const { instances, redis, postgres, pids } = addresses;
  const text = async (url) => (await fetch(url, { headers: { connection: 'close' } })).text();
  const found = {};
  let pooled = 0;
  for (const [at, url] of instances.entries()) {
    const page = await text(`${url}/metrics`);
    for (const name of OF_PEOPLE) found[`instance-${at + 1} ${name}`] = metric(page, name) - (name === 'chat_sockets_open' ? ASKER : 0);
    const pool = metric(page, 'chat_store_pool_size');
    pooled += pool;
    found[`instance-${at + 1} descriptors beside its pool`] = descriptorsOf(pids[`instance-${at + 1}`]) - pool - ASKER;
  }
  const status = await text(addresses.watch.find((one) => one.startsWith('nginx:')).slice('nginx:'.length).split('#')[0]);
  found['nginx connections'] = Number(status.match(/Active connections: (\d+)/)[1]) - ASKER;
  Object.assign(found, ofRedis(redis), ofPostgres(postgres, pooled));
  return found;
}

const descriptorsOf = (pid) => census({ one: pid }).find((one) => one.pid === pid).descriptors;

function ofRedis(address) {
  const port = new URL(address).port;
  const ask = (...words) => execFileSync('redis-cli', ['-p', port, ...words], { encoding: 'utf8' }).trim().split('\n').filter(Boolean);
  const channels = ask('PUBSUB', 'CHANNELS');
  return { 'redis clients': ask('CLIENT', 'LIST').length - ASKER, 'redis channels': channels.length, 'redis channels of rooms': channels.filter((name) => name.includes(':room:')).length };
}

/** Sessions that no pool knows would be lost ones; those that a pool keeps for the next are not. */
function ofPostgres(address, pooled) {
  // The address has a password, which is not for the list of processes.
  const at = new URL(address);
  const env = { ...process.env, PGPASSWORD: at.password };
  at.password = '';
  const lines = execFileSync('psql', [at.href, '-XAtc', SESSIONS], { encoding: 'utf8', env }).trim().split('\n').filter(Boolean);
  const states = lines.map((line) => line.match(/^(.*) (\d+)$/)).map(([, state, count]) => [state, Number(count)]);
  const all = states.reduce((sum, [, count]) => sum + count, 0);
  return { 'postgres sessions that no pool has': all - pooled, 'postgres sessions at work': all - (Object.fromEntries(states).idle ?? 0) };
}

/** What of `after` is more than it was before, as texts. */
export const left = (before, after) =>
  Object.entries(after).filter(([name, figure]) => figure > before[name]).map(([name, figure]) => `${name}: ${figure}, at first ${before[name]}`);
