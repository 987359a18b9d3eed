import { steady } from '../lib/steady.mjs';
import { artillery, bare, k6, oha, sonagi } from '../tools/index.mjs';

const SECONDS = 8;
/** Of a run, before the server's figures are begun anew: the tool connects and warms up. */
const WARM_UP_MS = 2000;
const LEVELS = [0.5, 0.9];
const TRIAL_SECONDS = 4;
/** From one trial of a rate to the next, until one fails; then the bracket is halved until it is this narrow. */
const STEP = 1.4;
const NARROW = 1.08;
const TRIALS = 12;
/** A tool carries a rate when it gets this share of it done, once warm. */
const CARRIED = 0.99;

/** Requests of a trial once the tool is warm: the first second's are not asked about. */
const settled = steady({ begun: ({ after }) => after.count > 0, count: ({ after }) => after.count, settle_ms: 1500, window_ms: 2000 });

/** A trial is looked at in its window; in a run the server's figures begin anew once the tool is warm. */
async function watch(probe, { trial }) {
  if (trial) return settled(probe);
  while ((await probe.stats()).after.count === 0) if (!(await probe.wait(20))) return undefined;
  return { warm: (await probe.wait(WARM_UP_MS)) && (await probe.reset(), true) };
}

const RATE = ({ calibration }) => calibration.rate;
const CONNECTIONS = ({ calibration }) => calibration.connections;
const LENGTH = ({ calibration }) => calibration.seconds;
/** What `rate` is offered with: connections for three times the 10 ms that each answer takes. */
const load = (rate, seconds) => ({ rate, seconds, connections: Math.ceil(rate * 0.03) + 20 });

/** The figures of a row: what the tool says of itself beside what the server saw. */
function figures({ completed, under_way = 0, seconds, p50_ms, p99_ms, errors }, { calibration, target, during }) {
  if (!calibration.trial && !during?.warm) throw new Error('it was over before it was warm');
  const planned = calibration.rate * calibration.seconds;
  const missed = Math.max(0, 1 - (completed + under_way) / planned);
  const { p99_ms: server_p99_ms } = target.stats.after;
  const short = [errors, missed > 0 && `completed ${completed} of ${planned}`].filter(Boolean).join('; ');
  return {
    operations: completed,
    seconds: seconds ?? calibration.seconds,
    rate: calibration.rate,
    p50_ms,
    p99_ms,
    server_p99_ms,
    added_p99_ms: p99_ms - server_p99_ms,
    missed,
    falls_short: short || undefined,
  };
}

// How each is started, what it reports, and a rate that it should carry on one core.
const TOOLS = [
  {
    name: 'sonagi',
    begin: 20_000,
    ...sonagi.script('http-open/sonagi.yml', { RATE, CONNECTIONS, SECONDS: LENGTH }),
    measure: ({ traffic, kinds, errors, duration_s }, outcome) => {
      const { p50, p99 } = kinds.find(({ kind }) => kind === 'http').response_ms;
      const failed = errors.map(({ code, count }) => `${count} × ${code}`).join('; ');
      return figures({ completed: traffic.http_responses, seconds: duration_s, p50_ms: p50, p99_ms: p99, errors: failed }, outcome);
    },
  },
  {
    name: 'bare',
    // The floor is no rival here, and costs a search of its own.
    slow: true,
    begin: 25_000,
    ...bare.run('open', ['/after/10ms', '--rate', RATE, '--connections', CONNECTIONS, '--seconds', LENGTH]),
    measure: ({ completed, p50_us, p99_us }, outcome) => figures({ completed, seconds: outcome.wall_s, p50_ms: p50_us / 1000, p99_ms: p99_us / 1000 }, outcome),
  },
  {
    name: 'oha',
    begin: 20_000,
    ...oha.open('/after/10ms', { rate: RATE, connections: CONNECTIONS, seconds: LENGTH }),
    measure: ({ requests, ...line }, outcome) => figures({ completed: requests, ...line }, outcome),
  },
  {
    name: 'k6',
    begin: 3000,
    ...k6.script('http-open/k6.js', { RATE, CONNECTIONS, SECONDS: LENGTH }),
    measure: (line, outcome) => figures({ ...line, errors: line.failed ? `${line.failed} failed` : '' }, outcome),
  },
  {
    name: 'artillery',
    // It starts for seconds and looks for its maximum as long.
    slow: true,
    begin: 500,
    ...artillery.script('http-open/artillery.yml', { RATE, CONNECTIONS, SECONDS: LENGTH }),
    measure: (aggregate, outcome) => {
      const { p50, p99 } = aggregate.summaries['http.response_time'];
      const seconds = (aggregate.lastCounterAt - aggregate.firstCounterAt) / 1000;
      return figures({ completed: aggregate.counters['http.responses'], seconds, p50_ms: p50, p99_ms: p99, errors: artillery.errors(aggregate) }, outcome);
    },
  },
];

/**
 * What a tool carries, in requests a second, as a bracket `{ carried, failed }`: it is offered more and more until it gets less
 * done than it was offered, or takes longer for it than it was to; then the bracket is narrowed. Nothing is offered that is far
 * too much: some tools never recover from that.
 */
export async function maximum({ begin }, carries) {
  let [carried, failed] = [0, Infinity];
  let rate = begin;
  for (let trial = 0; trial < TRIALS && failed > carried * NARROW; trial += 1) {
    // A moment of the machine's own may fail a trial: on the way up, where all that follows hangs on it, it is made again.
    if ((await carries(rate)) || (failed === Infinity && (await carries(rate)))) carried = rate;
    else failed = rate;
    rate = Math.round(failed === Infinity ? carried * STEP : carried === 0 ? failed / STEP : Math.sqrt(carried * failed));
  }
  if (carried === 0) throw new Error(`it carried no rate, the least tried was ${failed}/s`);
  return { carried, failed: failed === Infinity ? null : failed };
}

/** Whether a tool gets done what it is offered, by the server's count. */
const carrying = (contestant, execute) => async (rate) => {
  const { measures, outcome } = await execute(contestant, { ...load(rate, TRIAL_SECONDS), trial: true });
  const { during: window } = outcome;
  return Boolean(window) && window.frames / window.seconds >= CARRIED * rate && measures.loaded_s <= TRIAL_SECONDS + 0.5;
};

/** Rounds of rows that no claim is about. */
const ASIDE = 2;

const at = (name, level) => `${name} at ${level * 100} %`;

export default {
  name: 'http-open',
  title: 'HTTP open model over a server that answers in exactly 10 ms',
  about:
    'Requests are planned at a fixed rate, 50 % and 90 % of the most that the tool itself carries on this server (looked for before the first round: from below in steps of 1.4, then between the last rate carried and the first not, to 8 %; both are kept in the results). ' +
    'The server measures each answer, too, from the request read to the answer written: what the tool reports above that, it added. Sonagi opens its pool before its first request, oha and k6 their connections as they go. The server’s figures leave out the first two seconds; the tools’ own percentiles are of all eight, as no tool here leaves its warm-up out.',
  operation: 'request',
  seconds: SECONDS,
  /** What the search takes: some eight trials of each tool. */
  calibration_s: 3 * 8 * (TRIAL_SECONDS + 0.4),
  headline: 'added_p99_ms',
  measures: {
    rate: { label: 'offered/s', better: 'higher' },
    missed: { label: 'missed', unit: 'share', better: 'lower' },
    p50_ms: { label: 'its p50, ms', better: 'lower' },
    p99_ms: { label: 'its p99, ms', better: 'lower' },
    server_p99_ms: { label: "server's p99, ms" },
    added_p99_ms: { label: 'added to p99, ms', better: 'lower' },
  },
  contestants: LEVELS.flatMap((level) => TOOLS.map((tool) => ({ ...tool, name: at(tool.name, level), beside: at('sonagi', level), level, alone: tool.name, during: watch, rounds: tool.name === 'sonagi' ? undefined : ASIDE }))),

  /** Looks for the tool's maximum once for both levels. */
  async calibrate(contestant, execute, found) {
    const { alone, level } = contestant;
    const known = [...found.values()].find(({ tool }) => tool === alone);
    const bracket = known?.bracket ?? (await maximum(contestant, carrying(contestant, execute)));
    return { tool: alone, bracket, ...load(Math.round(bracket.carried * level), SECONDS) };
  },

  claims: [
    { says: 'reported p99 within 1 ms of the server’s at 50 %', measure: 'added_p99_ms', of: 'sonagi at 50 %', atMost: 1 },
    { says: 'nothing missed at 50 % in any run', measure: 'missed', of: 'sonagi at 50 %', atMost: 0, worst: true },
    { says: 'reported p99 within 3 ms of the server’s at 90 %', measure: 'added_p99_ms', of: 'sonagi at 90 %', atMost: 3 },
    { says: 'nothing missed at 90 % in any run', measure: 'missed', of: 'sonagi at 90 %', atMost: 0, worst: true },
  ],
};
