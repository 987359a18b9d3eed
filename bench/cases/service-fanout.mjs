import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 4;
/** How long a listener stays: until the last speaker is through, with what the scripts have of quiet before and after. */
const STAY_S = SECONDS + 2.5;
/** The window in which all speak and the server is warm, in ms of the generator's age; its CPU in it is what is compared. */
const FROM_MS = 2700;
const WINDOW_MS = 2000;
const MEMBERS = 500;
/** Who speaks is drawn, one in ten; the same seed draws the same people for every server. */
const SEED = '7';
/** Seconds between two words of a speaker: rates that every server of the group still carries whole. */
const FAST = 0.2;
const MIDDLING = 0.5;
const SLOW = 1;

async function watch(probe) {
  await probe.wait(FROM_MS);
  const before = probe.target_sample();
  const began = performance.now();
  await probe.wait(WINDOW_MS);
  const after = probe.target_sample();
  return { cpu_s: after.cpu_s - before.cpu_s, seconds: (performance.now() - began) / 1000 };
}

const room = (name, target, pace, { beside, script = 'websocket', members = MEMBERS } = {}) => ({
  name,
  target,
  beside,
  // Messages of the run before would be history, and memory, of this one.
  fresh: true,
  during: watch,
  ...sonagi.script(`service/${script}.yml`, { USERS: members, PACE: pace, TIMES: SECONDS / pace, STAY: STAY_S }, { flags: ['--seed', SEED] }),
  measure: (summary, { during: { cpu_s, seconds } }) => {
    const { messages, owed, delivered, late, duplicate, latency_ms } = summary.delivery;
    const arrived = delivered + late;
    const short = [
      objections(summary),
      arrived < owed && `${owed - arrived} of ${owed} copies did not arrive`,
      late > 0 && `${late} of ${owed} copies were over a second late`,
      duplicate > 0 && `${duplicate} copies came twice`,
    ];
    // Everybody speaks at a constant pace, and what fell behind is told as such.
    const deliveries_per_s = (messages * members) / SECONDS;
    return {
      operations: arrived,
      seconds: SECONDS,
      deliveries_per_cpu_s: (deliveries_per_s * seconds) / cpu_s,
      deliveries_per_s,
      target_cpu: cpu_s / seconds,
      received_share: owed > 0 ? arrived / owed : 0,
      p99_ms: latency_ms.p99,
      falls_short: short.filter(Boolean).join('; ') || undefined,
    };
  },
});

export default {
  name: 'service-fanout',
  title: 'The service: a room of 500, one in ten speaks',
  about:
    'Sonagi is the client, with the ledger on; what is compared is the CPU of the *servers*, each on one core. Rows are compared at the same rate, one that all of them still deliver whole. ' +
    'The foreign servers keep nothing; ours numbers every message and keeps it, in memory or in a file. The server’s CPU is that of two seconds in the middle, when it is warm and all have joined.',
  operation: 'delivery',
  seconds: SECONDS + 4,
  headline: 'deliveries_per_cpu_s',
  advantage: 'sonagi serve is better by',
  measures: {
    deliveries_per_cpu_s: { label: 'deliveries per server CPU s', better: 'higher' },
    deliveries_per_s: { label: 'deliveries/s', better: 'higher' },
    received_share: { label: 'received', unit: 'share', better: 'higher' },
    p99_ms: { label: 'p99, ms', better: 'lower' },
    cpu_us: { label: 'generator’s CPU µs per delivery', better: 'lower' },
    cpu_share: false,
    peak_mb: false,
  },
  contestants: [
    room('sonagi serve', 'serve', FAST),
    room('sonagi serve, SQLite', 'serve-sqlite', FAST, { beside: 'sonagi serve' }),
    room('Bun', 'bun-service', FAST, { beside: 'sonagi serve' }),
    room('ws on Node', 'ws-node', FAST, { beside: 'sonagi serve' }),
    room('sonagi serve, Socket.IO', 'serve', MIDDLING, { script: 'socketio' }),
    room('Socket.IO on Node', 'socketio-node', MIDDLING, { script: 'socketio', beside: 'sonagi serve, Socket.IO' }),
    room('socketioxide', 'socketioxide', MIDDLING, { script: 'socketio', beside: 'sonagi serve, Socket.IO' }),
    // At a rate of its own: a ratio would credit us with what batching gives at a higher one.
    room('FastAPI', 'fastapi', SLOW, { beside: 'FastAPI' }),
  ],
  claims: [
    { says: 'deliveries per CPU second at least 1.3 × Bun', measure: 'deliveries_per_cpu_s', of: 'sonagi serve', against: 'Bun', atLeast: 1.3 },
    { says: 'deliveries per CPU second at least 4 × Socket.IO on Node', measure: 'deliveries_per_cpu_s', of: 'sonagi serve, Socket.IO', against: 'Socket.IO on Node', atLeast: 4 },
    { says: 'N=500: everything received', measure: 'received_share', of: 'sonagi serve', atLeast: 1 },
  ],
};
