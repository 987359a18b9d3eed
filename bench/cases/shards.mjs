import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARGET_CORE, TOOL_CORE } from '../lib/cores.mjs';
import { costs, steady } from '../lib/steady.mjs';
import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 3;
/** Of each shard: two carry twice the load of one, so that neither is the less busy. */
const HTTP_USERS = 50;
const ROOM = 300;
/** The target keeps its core; two of ours share it with one of them. */
const CORES = { 1: TOOL_CORE, 2: `${TOOL_CORE},${TARGET_CORE}` };

const LOADS = {
  HTTP: {
    seconds: SECONDS,
    script: (shares, shards) => sonagi.script('http-closed/sonagi.yml', { USERS: shares.length * HTTP_USERS, SECONDS }, { shards }),
    during: steady({ begun: ({ connections }) => connections > 2, count: ({ requests }) => requests, settle_ms: 1000, window_ms: 1500 }),
    short: (summary) => objections(summary, { saturating: true }),
    operations: ({ traffic }) => traffic.http_responses,
  },
  'rooms with ledger': {
    seconds: SECONDS + 4.2,
    script: (shares, shards) => sonagi.script('shards/rooms.yml', { USERS: shares.length * ROOM, SECONDS }, { shards, flags: ['--seed', 7, '--overrides', JSON.stringify({ config: { variables: { room: shares } } })] }),
    during: steady({ begun: ({ frames_in }) => frames_in > 0, settle_ms: 1200, window_ms: 1500 }),
    short: (summary) => {
      const { owed, delivered, late } = summary.delivery;
      return [objections(summary), delivered + late < owed && `${delivered + late} of ${owed} copies arrived`].filter(Boolean).join('; ') || undefined;
    },
    operations: ({ delivery }) => delivery.delivered + delivery.late,
  },
};

/** What the shards would do in a second if each had a core to itself: the CPU of an operation says it. */
function figures({ operations, short }, cores, summaries, { during: window }) {
  if (!window) throw new Error('it was over too soon');
  return {
    operations: summaries.reduce((sum, summary) => sum + operations(summary), 0),
    seconds: SECONDS,
    capacity: (cores * window.frames) / window.cpu_s,
    ...costs(window),
    falls_short: summaries.map(short).filter(Boolean).join('; ') || undefined,
  };
}

const sharded = (load, name, shards, shares) => ({
  name,
  beside: `${load}, 1 shard`,
  cores: CORES[shards],
  seconds: LOADS[load].seconds,
  ...LOADS[load].script(shares, shards),
  during: LOADS[load].during,
  measure: (summary, outcome) => figures(LOADS[load], shards, [summary], outcome),
});

/** Two programs side by side, each with one shard and half of the load: what two shards are measured by. */
function side(load) {
  const halves = ['first', 'second'].map((share) => LOADS[load].script([share], 1));
  return {
    ...sharded(load, `${load}, 2 processes`, 2, ['first', 'second']),
    command: (context) => {
      const [one, other] = halves.map(({ command }) => command(context));
      // The words come as arguments: nothing of them is read by the shell.
      const both = 'here="$1" n="$2"; shift 2; "${@:1:n}" >"$here/one.json" & "${@:n+1}" >"$here/other.json" & wait';
      return { ...one, argv: ['bash', '-c', both, 'bash', context.folder, one.argv.length, ...one.argv, ...other.argv] };
    },
    report: ({ folder }) => ['one.json', 'other.json'].map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8'))),
    measure: (summaries, outcome) => figures(LOADS[load], 2, summaries, outcome),
  };
}

const rows = (load) => [sharded(load, `${load}, 1 shard`, 1, ['first']), sharded(load, `${load}, 2 shards`, 2, ['first', 'second']), side(load)];
const claims = (load) => [
  { says: `${load}: two shards at least 1.8 × one, by CPU per operation`, measure: 'capacity', of: `${load}, 2 shards`, against: `${load}, 1 shard`, atLeast: 1.8, cap: 2 },
  { says: `${load}: two shards at least 0.9 × two processes of one shard each`, measure: 'capacity', of: `${load}, 2 shards`, against: `${load}, 2 processes`, atLeast: 0.9 },
];

export default {
  name: 'shards',
  title: 'Two shards against one, and against two processes',
  about:
    `For each shard ${HTTP_USERS} users of HTTP in a closed loop, or a room of ${ROOM} with the ledger on: two shards have twice the load, and every room has members on both. Two shards and the target have two cores together, ` +
    'so throughput cannot double here; what can be told is the CPU of an operation. *Capacity* is shards ÷ CPU seconds per operation, in a second and a half in the middle: operations a second if each shard had a core to itself. ' +
    'Sharing a core with the target makes reads fuller and operations cheaper, so that two shards can seem more than twice one; such a ratio is told as 2. ' +
    'What sharding itself costs shows against *2 processes*: two programs of one shard each, which share nothing, under the same load on the same cores.',
  operation: 'operation',
  seconds: SECONDS,
  headline: 'capacity',
  advantage: 'one shard has so much of it',
  measures: { capacity: { label: 'capacity, operations/s', better: 'higher' } },
  contestants: ['HTTP', 'rooms with ledger'].flatMap(rows),
  claims: ['HTTP', 'rooms with ledger'].flatMap(claims),
};
