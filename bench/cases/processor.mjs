import { join } from 'node:path';
import { SCRIPT, published } from '../lib/published.mjs';
import { scriptPath } from '../lib/scripts.mjs';
import { artillery, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const SECONDS = 5;
/** Accounts that the target has; their logins are spread over all of them. */
const USERS = 1000;
/** Think times of the script: what a session takes when everything else takes no time. */
const THINK_MS = 2000;
/** Arrivals a second: the one the claim is about, below it, and above it, to find where it ends. */
const OURS = [250, 400, 500, 750];
const THEIRS = [100, 200, 400, 600];

/** The tool's own command on the published script, laid out in the run's scratch folder, at another rate. */
const on = (tool, rate) => ({
  ...tool,
  command: (context) => {
    published(context.folder, context.target.url, USERS);
    const { argv, env } = tool.command(context);
    const phases = JSON.stringify({ config: { phases: [{ duration: SECONDS, arrivalRate: rate }] } });
    const words = argv.map((word) => (word === scriptPath(SCRIPT) ? join(context.folder, SCRIPT) : word));
    return { argv: [...words, '--overrides', phases], env, cwd: context.folder };
  },
});

function figures({ completed, planned, lag, session, took_s, errors }) {
  const short = [errors, completed < planned && `${planned - completed} of ${planned} users were not completed`];
  return {
    operations: completed,
    seconds: SECONDS + THINK_MS / 1000,
    completed_share: completed / planned,
    users_per_s: completed / (took_s - THINK_MS / 1000),
    lag_p99_ms: lag,
    // Login, three requests, connecting: what the target and the tool took.
    busy_p99_ms: session === undefined ? undefined : session - THINK_MS,
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
}

const bySonagi = (rate) => ({
  name: `sonagi, ${rate}/s`,
  target: 'serve-logins',
  // The others only say where it ends.
  ...(rate !== 500 && { rounds: 2, slow: true }),
  ...on(sonagi.script(SCRIPT), rate),
  measure: (summary) => {
    const { users, generator } = summary;
    return figures({ completed: users.completed, planned: users.planned, lag: generator.send_lag_ms.p99, took_s: summary.duration_s, session: users.session_ms?.p99, errors: objections(summary) });
  },
});

const byArtillery = (rate) => ({
  name: `artillery, ${rate}/s`,
  target: 'serve-logins',
  seconds: SECONDS + 20,
  slow: true,
  beside: 'sonagi, 500/s',
  rounds: 2,
  ...on(artillery.script(SCRIPT), rate),
  measure: (aggregate) => {
    const { counters, summaries } = aggregate;
    return figures({ completed: counters['vusers.completed'] ?? 0, planned: SECONDS * rate, took_s: (aggregate.lastCounterAt - aggregate.firstCounterAt) / 1000, session: summaries['vusers.session_length']?.p99, errors: artillery.errors(aggregate) });
  },
});

export default {
  name: 'processor',
  title: 'A published script with its processor',
  about:
    'Each user calls a function of the script’s `processor.ts`, which logs in and asks for three more things with axios, then connects by Socket.IO, says a word, and thinks for two seconds in all. Sonagi’s Node runs beside it on the same one core, Artillery in its own. Most of the work is axios’s in either; the *send lag* says how late Sonagi’s own part was. Artillery does not measure how late it is: its arrivals slip, and users/s, from the first to the last without their thinking, say how many it got through.',
  operation: 'user',
  seconds: SECONDS + 3,
  headline: 'cpu_us',
  measures: {
    users_per_s: { label: 'users/s that got through', better: 'higher' },
    completed_share: { label: 'completed', unit: 'share', better: 'higher' },
    lag_p99_ms: { label: 'send lag p99, ms', better: 'lower' },
    busy_p99_ms: { label: 'p99 beyond think times, ms', better: 'lower' },
  },
  contestants: [...OURS.map(bySonagi), ...THEIRS.map(byArtillery)],
  claims: [
    { says: '500 arrivals a second: send lag p99 under 5 ms', measure: 'lag_p99_ms', of: 'sonagi, 500/s', atMost: 5 },
    { says: '500 arrivals a second: everybody completed in every run', measure: 'completed_share', of: 'sonagi, 500/s', atLeast: 1, worst: true },
  ],
};
