import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 3;
const HTTP_USERS = 50;
const ROOM = 300;
/** The target keeps its core; two shards share it with one of them. */
const CORES = { 1: '0', 2: '0,1' };

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
  ...sonagi.script('http-closed/sonagi.yml', { USERS: HTTP_USERS, SECONDS }, { shards }),
  measure: (summary, outcome) => capacity(shards, summary.traffic.http_responses, outcome, objections(summary)),
});
const room = (shards) => ({
  name: `room with ledger, ${shards} shard${shards > 1 ? 's' : ''}`,
  beside: 'room with ledger, 1 shard',
  cores: CORES[shards],
  seconds: SECONDS + 4.5,
  ...sonagi.script('ws-fanout/ledger.yml', { USERS: ROOM, SECONDS }, { shards }),
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
    `HTTP in a closed loop of ${HTTP_USERS} users, and a room of ${ROOM} with the ledger on, where every message crosses from one shard to the other. Two shards and the target have two cores together, ` +
    'so throughput cannot double here; what can be told is the CPU of an operation. *Capacity* is shards ÷ CPU seconds per operation: operations a second if each shard had a core to itself.',
  operation: 'operation',
  seconds: SECONDS,
  headline: 'capacity',
  measures: { capacity: { label: 'capacity, operations/s', better: 'higher' } },
  contestants: [http(1), http(2), room(1), room(2)],
  claims: [
    { says: 'HTTP: two shards at least 1.8 × one, by CPU per operation', measure: 'capacity', of: 'HTTP, 2 shards', against: 'HTTP, 1 shard', atLeast: 1.8 },
    { says: 'room: two shards at least 1.8 × one, by CPU per operation', measure: 'capacity', of: 'room with ledger, 2 shards', against: 'room with ledger, 1 shard', atLeast: 1.8 },
  ],
};
