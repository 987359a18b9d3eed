import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SIZES = { '1k': 1000, '5k': 5000, '10k': 10_000 };
/** Everybody says a word so often. */
const EVERY_S = 5;
/** How long users stay after their second word: with the slow tools the last have only come when the first leave. */
const STAY_S = 6;
/** Words of each. */
const WORDS = 2;
/** How often the target is asked how many are connected: each question costs it some 10 µs. */
const ASK_MS = 20;

/**
 * Watches a run of `users` from beside: when the target counts all of them as connected, and what the tool costs over one
 * whole period from then on, in which each says one word.
 */
const watch = (users) => async (probe) => {
  let most = 0;
  let first_s;
  do {
    const { connections } = await probe.stats();
    // The one that asks is counted, too.
    most = Math.max(most, connections - 1);
    if (most > 0) first_s ??= probe.sample().at_s;
    if (most >= users) return { most, first_s, ...(await held(probe)) };
  } while (await probe.wait(ASK_MS));
  return { most };
};

async function held(probe) {
  const before = probe.sample();
  await probe.wait(EVERY_S * 1000);
  const after = probe.sample();
  const { connections } = await probe.stats();
  return { all_s: before.at_s, still: connections - 1, rss_mb: after.rss_mb, held_cpu: (after.cpu_s - before.cpu_s) / (after.at_s - before.at_s) };
}

function figures(tool, users, { words, objection }, { during: { most, first_s, all_s, still, rss_mb, held_cpu }, latest }) {
  const fewest = Object.keys(SIZES)[0];
  const more = users - SIZES[fewest];
  // Memory per user is reckoned from the tool's last run with the fewest.
  const fixed_mb = latest(`${tool}, ${fewest}`)?.held_mb;
  const short = [objection, most < users && `at most ${most} of ${users} were connected at once`, still < users && `${still} of ${users} were still there at the end of the five seconds`, words < WORDS * users && `${words} of ${WORDS * users} words came back`];
  return {
    operations: words,
    all_connected_s: all_s,
    connecting_s: all_s - first_s,
    held_cpu,
    held_mb: rss_mb,
    kb_per_user: more > 0 && fixed_mb !== undefined ? ((rss_mb - fixed_mb) * 1024) / more : undefined,
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
}

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
  measures: {
    held_mb: { label: 'MB held', better: 'lower' },
    kb_per_user: { label: 'KB per user', better: 'lower' },
    held_cpu: { label: 'CPU held', unit: 'share', better: 'lower' },
    all_connected_s: { label: 'all connected after, s', better: 'lower' },
    connecting_s: { label: 'connecting, s', better: 'lower' },
    cpu_us: false,
    cpu_share: false,
    target_cpu: { label: 'target CPU', unit: 'share' },
  },
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
