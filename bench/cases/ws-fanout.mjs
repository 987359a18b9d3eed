import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { costs, steady } from '../lib/steady.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 4;
/** From when all speak until the first fall silent. Start-up is left out: it would weigh as the run is short. */
const watch = steady({ begun: ({ frames_in }) => frames_in > 0, settle_ms: 1200, window_ms: 2200 });

/** What a row shows beside the standard columns: `sent` of the USERS × SECONDS messages, `received` of all their copies. */
function share(users, { during, target }, { sent, received, p99_ms, objection }) {
  if (!during) throw new Error('the room was never in full voice');
  const planned = users * SECONDS;
  // A tool that falls behind leaves copies unread, or queues them: what it never came to count is no delivery.
  const counted = Math.min(1, received / (target.stats.frames_out - users));
  const received_share = received / (planned * users);
  const sent_share = sent / planned;
  const short = [objection, sent_share < 1 && `sent ${percent(sent_share)}`, received_share < 1 && `received ${percent(received_share)}`];
  return { operations: received, seconds: SECONDS, ...costs({ ...during, frames: during.frames * counted }), received_share, sent_share, p99_ms, falls_short: short.filter(Boolean).join('; ') || undefined };
}

// Rounded down: a share that lacks anything must not read as whole.
const percent = (part) => `${(Math.floor(part * 1000) / 10).toFixed(1)} %`;

const ledger = (users) => ({
  ...sonagi.script('ws-fanout/ledger.yml', { USERS: users, SECONDS }),
  measure: (summary, outcome) => {
    const { messages, delivered, late, latency_ms } = summary.delivery;
    return share(users, outcome, { sent: messages, received: delivered + late, p99_ms: latency_ms.p99, objection: objections(summary) });
  },
});
const plain = (users) => ({
  ...sonagi.script('ws-fanout/plain.yml', { USERS: users, SECONDS }),
  // Each connection's first frame says `joined`.
  measure: (summary, outcome) => share(users, outcome, { sent: summary.traffic.messages_sent, received: summary.traffic.messages_received - users, objection: objections(summary) }),
});
const loop = (users) => ({
  ...bare.run('room', ['/ws/room/shower', '--users', users, '--seconds', SECONDS, '--bytes', 86]),
  measure: ({ sent, received, p99_us }, outcome) => share(users, outcome, { sent, received, p99_ms: p99_us / 1000 }),
});
const byK6 = (script) => (users) => ({
  ...k6.script(`ws-fanout/${script}.js`, { USERS: users, SECONDS }),
  measure: (line, outcome) => share(users, outcome, line),
});
const byArtillery = (users) => ({
  ...artillery.script('ws-fanout/artillery.yml', { USERS: users, SECONDS }),
  measure: ({ counters, ...aggregate }, outcome) =>
    share(users, outcome, { sent: counters['websocket.messages_sent'], received: counters.heard ?? 0, objection: artillery.errors({ counters, ...aggregate }) }),
});

/** The rows of a room of `users`: `kinds` maps a tool's name to what makes its contestant. Ratios are within the room. */
const room = (users, kinds, { target, rounds } = {}) => {
  const title = (name) => `${name}${target ? ` on ${target}` : ''}, N=${users}`;
  return Object.entries(kinds).map(([name, { of, ...settings }]) => ({ name: title(name), during: watch, beside: title('sonagi'), target, rounds, ...settings, ...of(users) }));
};

const OURS = { sonagi: { of: ledger }, bare: { of: loop } };
const K6 = { of: byK6('k6-ws') };
const K6_WEBSOCKETS = { of: byK6('k6-websockets') };
const ARTILLERY = { of: byArtillery };
/** For rows that no claim is about. */
const ASIDE = { rounds: 2 };
const SLOW = { slow: true };

export default {
  name: 'ws-fanout',
  title: 'Room fan-out: N people who each say 86 bytes once a second to all N',
  about:
    `Everybody comes in within one second and says something once a second for ${SECONDS} s: N² copies a second. The row *sonagi* follows every copy in the ledger and says how long it took ` +
    'from the planned send; *without ledger* only counts, as the other tools do: bare in its loop (with a histogram), k6 and Artillery in a plain variable, the cheapest they have. ' +
    'Our own target writes to a socket once per turn of its loop, which spares the reader system calls; the rows *on bun* are there because another server may not. ' +
    'CPU is that of 2.2 s in which all speak, without start-up, divided by the copies the target sent in them, as far as the tool came to count them.',
  operation: 'delivery',
  seconds: SECONDS + 4.2,
  headline: 'cpu_us',
  measures: {
    received_share: { label: 'received', unit: 'share', better: 'higher' },
    sent_share: { label: 'sent', unit: 'share', better: 'higher' },
    p99_ms: { label: 'its p99, ms', better: 'lower' },
  },
  contestants: [
    ...room(500, { ...OURS, 'sonagi without ledger': { of: plain, ...ASIDE }, 'k6/ws': { ...K6, ...ASIDE }, 'k6/websockets': { ...K6_WEBSOCKETS, ...SLOW }, artillery: { ...ARTILLERY, ...ASIDE } }),
    ...room(500, OURS, { target: 'bun', ...ASIDE }),
    ...room(300, { sonagi: OURS.sonagi, 'k6/websockets': K6_WEBSOCKETS, 'k6/ws': { ...K6, ...SLOW }, artillery: { ...ARTILLERY, ...SLOW } }),
    ...room(100, { sonagi: { ...OURS.sonagi, ...ASIDE }, 'k6/websockets': { ...K6_WEBSOCKETS, ...SLOW }, 'k6/ws': { ...K6, ...SLOW }, artillery: { ...ARTILLERY, ...SLOW } }),
  ],
  claims: [
    { says: 'N=500 with the ledger: 100 % received in every run', measure: 'received_share', of: 'sonagi, N=500', atLeast: 1, worst: true },
    { says: 'N=500 with the ledger: CPU per delivery at most 1.25 × the bare loop’s', measure: 'cpu_us', of: 'sonagi, N=500', against: 'bare, N=500', atMost: 1.25 },
    { says: 'N=300: at least 2.5 × better than k6/websockets', measure: 'cpu_us', of: 'k6/websockets, N=300', against: 'sonagi, N=300', atLeast: 2.5 },
    { says: 'N=500 with the ledger: at most 64 MB resident', measure: 'peak_mb', of: 'sonagi, N=500', atMost: 64 },
  ],
};
