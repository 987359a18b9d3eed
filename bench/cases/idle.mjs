import { EVERY_S, MEASURES, STAY_S, WORDS, figures as held, watch } from '../lib/held.mjs';
import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SIZES = { '1k': 1000, '5k': 5000, '10k': 10_000 };
const FEWEST = Object.keys(SIZES)[0];

/** Memory per user is reckoned from the tool's last run with the fewest. */
const figures = (tool, users, report, { during, latest }) => held(users, report, during, { users: SIZES[FEWEST], held_mb: latest(`${tool}, ${FEWEST}`)?.held_mb });

const CONTESTANTS = {
  sonagi: (users) => ({
    ...sonagi.script('idle/sonagi.yml', { USERS: users, STAY: STAY_S }),
    measure: (summary, outcome) => figures('sonagi', users, { words: summary.traffic.messages_received, objection: objections(summary) }, outcome),
  }),
  bare: (users) => ({
    ...bare.run('idle', ['/ws/echo', '--users', users, '--every', EVERY_S, '--seconds', WORDS * EVERY_S]),
    measure: (line, outcome) => figures('bare', users, { words: line.messages }, outcome),
  }),
  'k6/ws': (users) => ({
    ...k6.script('idle/k6-ws.js', { USERS: users, STAY: STAY_S }),
    measure: (line, outcome) => figures('k6/ws', users, { words: line.received }, outcome),
  }),
  artillery: (users) => ({
    ...artillery.script('idle/artillery.yml', { USERS: users, STAY: STAY_S }),
    // It does not count what comes back; that is what the target sent.
    measure: (aggregate, outcome) => figures('artillery', users, { words: outcome.target.stats.frames_out, objection: artillery.errors(aggregate) }, outcome),
  }),
};

const row = (tool, size, settings = {}) => ({ name: `${tool}, ${size}`, beside: `sonagi, ${size}`, fresh: true, ...settings, during: watch(SIZES[size]), ...CONTESTANTS[tool](SIZES[size]) });
/** What a run of the slow tools takes, start-up included. */
const SLOW_S = 19;
const slow = { slow: true, seconds: SLOW_S };
/** For rows that no claim is about. */
const ASIDE = { rounds: 2 };

export default {
  name: 'idle',
  title: 'Idle users: N WebSockets held, each echoes a word every five seconds',
  about:
    'Everybody is to connect within one second. *All connected* is the age of the tool’s process when the target counts N connections, start-up included; *connecting* is counted from the first connection. ' +
    'CPU held is that of the five seconds after it, in which each user says one word; MB held is the memory at their end, and KB per user its growth since 1,000 users.',
  operation: 'word',
  seconds: 12.5,
  headline: 'held_mb',
  measures: MEASURES,
  contestants: [
    row('sonagi', '1k', ASIDE),
    row('sonagi', '5k', ASIDE),
    row('sonagi', '10k'),
    row('bare', '10k', ASIDE),
    row('k6/ws', '1k', { slow: true, seconds: SLOW_S - 4 }),
    row('k6/ws', '5k', slow),
    row('k6/ws', '10k', { seconds: SLOW_S, rounds: 1 }),
    row('artillery', '1k', slow),
    row('artillery', '5k', slow),
    row('artillery', '10k', { seconds: SLOW_S, rounds: 1 }),
  ],
  claims: [
    { says: '10k users: at most 6 KB per user', measure: 'kb_per_user', of: 'sonagi, 10k', atMost: 6 },
    { says: '10k users: at most 80 MB in all', measure: 'peak_mb', of: 'sonagi, 10k', atMost: 80 },
    { says: '10k users connected within 2 s', measure: 'all_connected_s', of: 'sonagi, 10k', atMost: 2 },
  ],
};
