// Connections that are opened within a second and then held, seen from beside: how long until all are there, and what a user
// costs that hardly says a word.

/** Everybody says a word so often. */
export const EVERY_S = 5;
/** How long users stay after their second word: with the slow tools the last have only come when the first leave. */
export const STAY_S = 6;
/** Words of each. */
export const WORDS = 2;
/** How often the target is asked how many are connected: each question costs it some 10 µs. */
const ASK_MS = 20;

/**
 * Watches a run of `users` from beside: when the target counts all of them as connected, and what the tool costs over one
 * whole period from then on, in which each says one word.
 */
export const watch = (users) => async (probe) => {
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

/** The figures of a run of `users`; memory per user is reckoned from `fewest`, `{ users, held_mb }`, if that was measured. */
export function figures(users, { words, objection }, { most, first_s, all_s, still, rss_mb, held_cpu }, fewest) {
  const more = users - fewest.users;
  const short = [objection, most < users && `at most ${most} of ${users} were connected at once`, still < users && `${still} of ${users} were still there at the end of the five seconds`, words < WORDS * users && `${words} of ${WORDS * users} words came back`];
  return {
    operations: words,
    all_connected_s: all_s,
    connecting_s: all_s - first_s,
    held_cpu,
    held_mb: rss_mb,
    kb_per_user: more > 0 && fewest.held_mb !== undefined ? ((rss_mb - fewest.held_mb) * 1024) / more : undefined,
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
}

/** The columns. */
export const MEASURES = {
  held_mb: { label: 'MB held', better: 'lower' },
  kb_per_user: { label: 'KB per user', better: 'lower' },
  held_cpu: { label: 'CPU held', unit: 'share', better: 'lower' },
  all_connected_s: { label: 'all connected after, s', better: 'lower' },
  connecting_s: { label: 'connecting, s', better: 'lower' },
  cpu_us: false,
  cpu_share: false,
  target_cpu: { label: 'target CPU', unit: 'share' },
};
