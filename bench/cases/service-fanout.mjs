import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 3;
/** How long a listener stays: until the last speaker is through, with what the scripts have of quiet before and after. */
const STAY_S = SECONDS + 2.5;
/** The window in which all speak and the server is warm, in ms of the generator's age; its CPU in it is what is compared. */
const FROM_MS = 2700;
const WINDOW_MS = 1400;
const MEMBERS = 500;
/** Who speaks is drawn; the same seed draws the same people for every server. */
const SEED = '7';
/** How many speak for one who listens, and the seconds between two words of a speaker: rates that a server still carries whole. */
const ALL = { SPEAKING: 1, LISTENING: 0, PACE: 1 };
const SOME = { SPEAKING: 1, LISTENING: 9, PACE: 0.2 };
const FEW = { SPEAKING: 1, LISTENING: 9, PACE: 1 };
/** A room in which all speak and that Socket.IO on Node still carries. */
const CARRIED = 300;
/** Rounds of rows that no claim is about. */
const ASIDE = 2;

async function watch(probe) {
  await probe.wait(FROM_MS);
  const before = probe.target_sample();
  const began = performance.now();
  await probe.wait(WINDOW_MS);
  const after = probe.target_sample();
  return { cpu_s: after.cpu_s - before.cpu_s, seconds: (performance.now() - began) / 1000 };
}

const room = (name, target, speech, { beside, slow, rounds, script = 'websocket', members = MEMBERS } = {}) => ({
  name,
  target,
  // A row of ours that others are compared with is compared with none.
  beside: beside ?? name,
  slow,
  rounds,
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
      // What did not arrive was not delivered.
      deliveries_per_cpu_s: owed > 0 ? (deliveries_per_s * seconds * Math.min(1, arrived / owed)) / cpu_s : 0,
      deliveries_per_s,
      target_cpu: cpu_s / seconds,
      received_share: owed > 0 ? arrived / owed : 0,
      p99_ms: latency_ms.p99,
      falls_short: short.filter(Boolean).join('; ') || undefined,
    };
  },
});

/** The rows that others are compared with, each with those at its own rate. */
const OURS = {
  all: 'sonagi serve, all speak',
  some: 'sonagi serve, one in ten speaks',
  socketioAll: 'sonagi serve by Socket.IO, all of 300 speak',
  socketioSome: 'sonagi serve by Socket.IO, one in ten speaks',
};
const ratio = (says, of, against, atLeast) => ({ says: `deliveries per CPU second ${says}`, measure: 'deliveries_per_cpu_s', of, against, atLeast });

export default {
  name: 'service-fanout',
  title: 'The service: a room of 500',
  about:
    'Sonagi is the client, with the ledger on; what is compared is the CPU of the *servers*, each on one core. Where *all speak*, each says a word a second; else one in ten says five a second. Rows are compared at the same rate, one that they still deliver whole. ' +
    'The foreign servers keep nothing; ours numbers every message and keeps it, in memory or in a file. The server’s CPU is that of 1.4 s in the middle, when it is warm and all have joined. Where many speak, ours gathers messages for up to 5 ms, which spares writes and costs latency: *not gathering* is the same without. Socket.IO on Node does not carry 500 who all speak; there the room is one of 300.',
  operation: 'delivery',
  seconds: SECONDS + 3.6,
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
    room(OURS.all, 'serve', ALL),
    room('not gathering, all speak', 'serve-eager', ALL, { beside: OURS.all, rounds: ASIDE }),
    room('Bun, all speak', 'bun-service', ALL, { beside: OURS.all }),
    room(OURS.some, 'serve', SOME),
    room('not gathering, one in ten speaks', 'serve-eager', SOME, { beside: OURS.some, rounds: ASIDE }),
    room('SQLite, one in ten speaks', 'serve-sqlite', SOME, { beside: OURS.some, slow: true }),
    room('Bun, one in ten speaks', 'bun-service', SOME, { beside: OURS.some }),
    room('ws on Node, one in ten speaks', 'ws-node', SOME, { beside: OURS.some, rounds: ASIDE }),
    room(OURS.socketioAll, 'serve', ALL, { script: 'socketio', members: CARRIED }),
    room('Socket.IO on Node, all of 300 speak', 'socketio-node', ALL, { script: 'socketio', members: CARRIED, beside: OURS.socketioAll }),
    room(OURS.socketioSome, 'serve', SOME, { script: 'socketio' }),
    room('Socket.IO on Node, one in ten speaks', 'socketio-node', SOME, { script: 'socketio', beside: OURS.socketioSome }),
    room('socketioxide, one in ten speaks', 'socketioxide', SOME, { script: 'socketio', beside: OURS.socketioSome, rounds: ASIDE }),
    // At a rate of its own: a ratio would credit us with what batching gives at a higher one.
    room('FastAPI, one in ten speaks a word a second', 'fastapi', FEW, { rounds: ASIDE }),
  ],
  claims: [
    ratio('≥ 1.3 × Bun, all speak', OURS.all, 'Bun, all speak', 1.3),
    ratio('≥ 1.3 × Bun, one in ten speaks', OURS.some, 'Bun, one in ten speaks', 1.3),
    ratio('≥ 4 × Socket.IO on Node, all of 300 speak', OURS.socketioAll, 'Socket.IO on Node, all of 300 speak', 4),
    ratio('≥ 4 × Socket.IO on Node, one in ten speaks', OURS.socketioSome, 'Socket.IO on Node, one in ten speaks', 4),
    { says: 'N=500, all speak: everything received in every run', measure: 'received_share', of: OURS.all, atLeast: 1, worst: true },
    { says: 'N=500, one in ten speaks: everything received in every run', measure: 'received_share', of: OURS.some, atLeast: 1, worst: true },
  ],
};
