import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 4;
/** How long a listener stays: until the last speaker is through, with what the scripts have of quiet before and after. */
const STAY_S = SECONDS + 2.5;
/** The window in which all speak and the server is warm, in ms of the generator's age; its CPU in it is what is compared. */
const FROM_MS = 2700;
const WINDOW_MS = 2000;
const MEMBERS = 500;
/** Who speaks is drawn; the same seed draws the same people for every server. */
const SEED = '7';
/** How many speak for one who listens, and the seconds between two words of a speaker: rates that a server still carries whole. */
const ALL = { SPEAKING: 1, LISTENING: 0, PACE: 1 };
const SOME = { SPEAKING: 1, LISTENING: 9, PACE: 0.2 };
const FEW = { SPEAKING: 1, LISTENING: 9, PACE: 1 };

async function watch(probe) {
  await probe.wait(FROM_MS);
  const before = probe.target_sample();
  const began = performance.now();
  await probe.wait(WINDOW_MS);
  const after = probe.target_sample();
  return { cpu_s: after.cpu_s - before.cpu_s, seconds: (performance.now() - began) / 1000 };
}

const room = (name, target, speech, { beside, slow, script = 'websocket', members = MEMBERS } = {}) => ({
  name,
  target,
  beside,
  slow,
  // Messages of the run before would be history, and memory, of this one.
  fresh: true,
  during: watch,
  ...sonagi.script(`service/${script}.yml`, { USERS: members, ...speech, TIMES: SECONDS / speech.PACE, STAY: STAY_S }, { flags: ['--seed', SEED] }),
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
  title: 'The service: a room of 500',
  about:
    'Sonagi is the client, with the ledger on; what is compared is the CPU of the *servers*, each on one core. Where *all speak*, each says a word a second; else one in ten says five. Rows are compared at the same rate, one that they still deliver whole. ' +
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
    room('sonagi serve, all speak', 'serve', ALL),
    room('not gathering, all speak', 'serve-eager', ALL, { beside: 'sonagi serve, all speak' }),
    room('Bun, all speak', 'bun-service', ALL, { beside: 'sonagi serve, all speak' }),
    room('sonagi serve', 'serve', SOME),
    room('sonagi serve, SQLite', 'serve-sqlite', SOME, { beside: 'sonagi serve', slow: true }),
    room('Bun', 'bun-service', SOME, { beside: 'sonagi serve' }),
    room('ws on Node', 'ws-node', SOME, { beside: 'sonagi serve' }),
    room('sonagi serve, Socket.IO', 'serve', SOME, { script: 'socketio' }),
    room('Socket.IO on Node', 'socketio-node', SOME, { script: 'socketio', beside: 'sonagi serve, Socket.IO' }),
    room('socketioxide', 'socketioxide', SOME, { script: 'socketio', beside: 'sonagi serve, Socket.IO' }),
    // At a rate of its own: a ratio would credit us with what batching gives at a higher one.
    room('FastAPI', 'fastapi', FEW, { beside: 'FastAPI' }),
  ],
  claims: [
    { says: 'deliveries per CPU second at least 1.3 × Bun', measure: 'deliveries_per_cpu_s', of: 'sonagi serve, all speak', against: 'Bun, all speak', atLeast: 1.3 },
    { says: 'deliveries per CPU second at least 4 × Socket.IO on Node', measure: 'deliveries_per_cpu_s', of: 'sonagi serve, Socket.IO', against: 'Socket.IO on Node', atLeast: 4 },
    { says: 'N=500: everything received', measure: 'received_share', of: 'sonagi serve, all speak', atLeast: 1 },
  ],
};
