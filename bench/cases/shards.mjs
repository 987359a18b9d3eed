import { TARGET_CORE, TOOL_CORE } from '../lib/cores.mjs';
import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 3;
/** Of each shard: two carry twice the load of one, so that neither is the less busy. */
const HTTP_USERS = 50;
const ROOM = 300;
const ROOMS = { 1: ['first'], 2: ['first', 'second'] };
/** The target keeps its core; two shards share it with one of them. */
const CORES = { 1: TOOL_CORE, 2: `${TOOL_CORE},${TARGET_CORE}` };

/** What the shards would do in a second if each had a core to itself: the CPU of an operation says it. */
const capacity = (shards, operations, { cpu_s }, falls_short) => ({
  operations,
  seconds: SECONDS,
  capacity: (shards * operations) / cpu_s,
  falls_short,
});

const http = (shards) => ({
  name: `HTTP, ${shards} shard${shards > 1 ? 's' : ''}`,
  beside: 'HTTP, 1 shard',
  cores: CORES[shards],
  ...sonagi.script('http-closed/sonagi.yml', { USERS: shards * HTTP_USERS, SECONDS }, { shards }),
  measure: (summary, outcome) => capacity(shards, summary.traffic.http_responses, outcome, objections(summary)),
});
const room = (shards) => ({
  name: `rooms with ledger, ${shards} shard${shards > 1 ? 's' : ''}`,
  beside: 'rooms with ledger, 1 shard',
  cores: CORES[shards],
  seconds: SECONDS + 4.5,
  ...sonagi.script('shards/rooms.yml', { USERS: shards * ROOM, SECONDS }, { shards, flags: ['--seed', 7, '--overrides', JSON.stringify({ config: { variables: { room: ROOMS[shards] } } })] }),
  measure: (summary, outcome) => {
    const { owed, delivered, late } = summary.delivery;
    const short = [objections(summary), delivered + late < owed && `${delivered + late} of ${owed} copies arrived`].filter(Boolean).join('; ');
    return capacity(shards, delivered + late, outcome, short || undefined);
  },
});

export default {
  name: 'shards',
  title: 'Two shards against one',
  about:
    `For each shard ${HTTP_USERS} users of HTTP in a closed loop, or a room of ${ROOM} with the ledger on: two shards have twice the load, and every room has members on both. Two shards and the target have two cores together, ` +
    'so throughput cannot double here; what can be told is the CPU of an operation. *Capacity* is shards ÷ CPU seconds per operation: operations a second if each shard had a core to itself.',
  operation: 'operation',
  seconds: SECONDS,
  headline: 'capacity',
  measures: { capacity: { label: 'capacity, operations/s', better: 'higher' } },
  contestants: [http(1), http(2), room(1), room(2)],
  claims: [
    { says: 'HTTP: two shards at least 1.8 × one, by CPU per operation', measure: 'capacity', of: 'HTTP, 2 shards', against: 'HTTP, 1 shard', atLeast: 1.8 },
    { says: 'rooms: two shards at least 1.8 × one, by CPU per operation', measure: 'capacity', of: 'rooms with ledger, 2 shards', against: 'rooms with ledger, 1 shard', atLeast: 1.8 },
  ],
};
