import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SIZES = { '1k': 1000, '5k': 5000, '10k': 10_000 };
/** Everybody says a word so often. */
const EVERY_S = 5;
/** How long users stay after their second word: the slow tools are still connecting when their first users would leave. */
const BRIEF_S = 1;
const LONG_S = 5;
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
  return { all_s: before.at_s, rss_mb: after.rss_mb, held_cpu: (after.cpu_s - before.cpu_s) / (after.at_s - before.at_s) };
}

/** The latest resident memory of each tool with 1,000 users: what the others' memory per user is reckoned from. */
const smallest = new Map();

function figures(tool, users, { words, objection }, { during: { most, first_s, all_s, rss_mb, held_cpu } }) {
  if (users === SIZES['1k'] && rss_mb) smallest.set(tool, rss_mb);
  const more = users - SIZES['1k'];
  const short = [objection, most < users && `at most ${most} of ${users} were connected at once`, words < users && `${words} words came back`];
  return {
    operations: words,
    all_connected_s: all_s,
    connecting_s: all_s - first_s,
    held_cpu,
    held_mb: rss_mb,
    kb_per_user: more > 0 ? ((rss_mb - smallest.get(tool)) * 1024) / more : undefined,
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
}

const CONTESTANTS = {
  sonagi: (users) => ({
    ...sonagi.script('idle/sonagi.yml', { USERS: users, STAY: BRIEF_S }),
    measure: (summary, outcome) => figures('sonagi', users, { words: summary.traffic.messages_received, objection: objections(summary) }, outcome),
  }),
  bare: (users) => ({
    ...bare.run('idle', ['/ws/echo', '--users', users, '--every', EVERY_S, '--seconds', EVERY_S + BRIEF_S]),
    measure: (line, outcome) => figures('bare', users, { words: line.messages }, outcome),
  }),
  'k6/ws': (users) => ({
    ...k6.script('idle/k6-ws.js', { USERS: users, STAY: LONG_S }),
    measure: (line, outcome) => figures('k6/ws', users, { words: line.received }, outcome),
  }),
  artillery: (users) => ({
    ...artillery.script('idle/artillery.yml', { USERS: users, STAY: LONG_S }),
    // It does not count what comes back; that is what the target sent.
    measure: (aggregate, outcome) => figures('artillery', users, { words: outcome.target.stats.frames_out, objection: artillery.errors(aggregate) }, outcome),
  }),
};

const row = (tool, size, { slow, seconds } = {}) => ({ name: `${tool}, ${size}`, beside: `sonagi, ${size}`, fresh: true, slow, seconds, during: watch(SIZES[size]), ...CONTESTANTS[tool](SIZES[size]) });
/** What a run of the slow tools takes, start-up included. */
const SLOW_S = 19;
const slow = { slow: true, seconds: SLOW_S };

export default {
  name: 'idle',
  title: 'Idle users: N WebSockets held, each echoes a word every five seconds',
  about:
    'Everybody is to connect within one second. *All connected* is the age of the tool’s process when the target counts N connections, start-up included; *connecting* is counted from the first connection. ' +
    'CPU held is that of the five seconds after it, in which each user says one word; MB held is the memory at their end, and KB per user its growth since 1,000 users.',
  operation: 'word',
  seconds: 8,
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
    row('sonagi', '1k'),
    row('sonagi', '5k'),
    row('sonagi', '10k'),
    row('bare', '10k'),
    row('k6/ws', '1k', { slow: true, seconds: 13 }),
    row('k6/ws', '5k', slow),
    row('k6/ws', '10k', slow),
    row('artillery', '1k', slow),
    row('artillery', '5k', slow),
    row('artillery', '10k', slow),
  ],
  claims: [
    { says: '10k users: at most 6 KB per user', measure: 'kb_per_user', of: 'sonagi, 10k', atMost: 6 },
    { says: '10k users: at most 80 MB in all', measure: 'peak_mb', of: 'sonagi, 10k', atMost: 80 },
    { says: '10k users connected within 2 s', measure: 'all_connected_s', of: 'sonagi, 10k', atMost: 2 },
  ],
};
