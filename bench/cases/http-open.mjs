import { artillery, bare, k6, oha, sonagi } from '../tools/index.mjs';

const SECONDS = 3;
const LEVELS = [0.5, 0.9];
const TRIAL_SECONDS = 2;
/** From one trial of a rate to the next. */
const STEP = 1.4;
const TRIALS = 8;

const RATE = ({ calibration }) => calibration.rate;
const CONNECTIONS = ({ calibration }) => calibration.connections;
const LENGTH = ({ calibration }) => calibration.seconds;
/** What `rate` is offered with: connections for three times the 10 ms that each answer takes. */
const load = (rate, seconds) => ({ rate, seconds, connections: Math.ceil(rate * 0.03) + 20 });

/** The figures of a row: what the tool says of itself beside what the server saw. */
function figures({ completed, under_way = 0, seconds, p50_ms, p99_ms, errors }, { calibration, target }) {
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

// How each is started, what it reports, and a rate that it surely carries on one core.
const TOOLS = [
  {
    name: 'sonagi',
    begin: 30_000,
    ...sonagi.script('http-open/sonagi.yml', { RATE, CONNECTIONS, SECONDS: LENGTH }),
    measure: ({ traffic, kinds, errors, duration_s }, outcome) => {
      const { p50, p99 } = kinds.find(({ kind }) => kind === 'http').response_ms;
      const failed = errors.map(({ code, count }) => `${count} × ${code}`).join('; ');
      return figures({ completed: traffic.http_responses, seconds: duration_s, p50_ms: p50, p99_ms: p99, errors: failed }, outcome);
    },
  },
  {
    name: 'bare',
    begin: 40_000,
    ...bare.run('open', ['/after/10ms', '--rate', RATE, '--connections', CONNECTIONS, '--seconds', LENGTH]),
    measure: ({ completed, p50_us, p99_us }, outcome) => figures({ completed, seconds: outcome.wall_s, p50_ms: p50_us / 1000, p99_ms: p99_us / 1000 }, outcome),
  },
  {
    name: 'oha',
    begin: 30_000,
    ...oha.open('/after/10ms', { rate: RATE, connections: CONNECTIONS, seconds: LENGTH }),
    measure: ({ requests, ...line }, outcome) => figures({ completed: requests, ...line }, outcome),
  },
  {
    name: 'k6',
    begin: 5000,
    ...k6.script('http-open/k6.js', { RATE, CONNECTIONS, SECONDS: LENGTH }),
    measure: (line, outcome) => figures({ ...line, errors: line.failed ? `${line.failed} failed` : '' }, outcome),
  },
  {
    name: 'artillery',
    // It starts for seconds and looks for its maximum as long.
    slow: true,
    begin: 800,
    ...artillery.script('http-open/artillery.yml', { RATE, CONNECTIONS, SECONDS: LENGTH }),
    measure: (aggregate, outcome) => {
      const { p50, p99 } = aggregate.summaries['http.response_time'];
      const seconds = (aggregate.lastCounterAt - aggregate.firstCounterAt) / 1000;
      return figures({ completed: aggregate.counters['http.responses'], seconds, p50_ms: p50, p99_ms: p99, errors: artillery.errors(aggregate) }, outcome);
    },
  },
];

/**
 * What a tool carries, in requests a second: it is offered more and more until it completes less than it was offered, or takes
 * longer for it than it was to. Nothing is offered that is far too much: some tools never recover from that.
 */
async function maximum(contestant, execute) {
  let carried = 0;
  for (let trial = 0, rate = contestant.begin; trial < TRIALS; trial += 1, rate *= STEP) {
    const offered = load(Math.round(rate), TRIAL_SECONDS);
    const { operations, loaded_s, missed } = (await execute(contestant, offered)).measures;
    const achieved = operations / Math.max(loaded_s, TRIAL_SECONDS);
    if (missed > 0.005 || loaded_s > TRIAL_SECONDS + 0.5) return Math.max(carried, achieved);
    carried = offered.rate;
  }
  return carried;
}

const at = (name, level) => `${name} at ${level * 100} %`;

export default {
  name: 'http-open',
  title: 'HTTP open model over a server that answers in exactly 10 ms',
  about:
    'Requests are planned at a fixed rate, 50 % and 90 % of the most that the tool itself carries on this server (looked for before the first round, in steps of 1.4). ' +
    'The server measures each answer, too, from the request read to the answer written: what the tool reports above that, it added.',
  operation: 'request',
  seconds: SECONDS,
  headline: 'added_p99_ms',
  measures: {
    rate: { label: 'offered/s', better: 'higher' },
    missed: { label: 'missed', unit: 'share', better: 'lower' },
    p50_ms: { label: 'its p50, ms', better: 'lower' },
    p99_ms: { label: 'its p99, ms', better: 'lower' },
    server_p99_ms: { label: "server's p99, ms" },
    added_p99_ms: { label: 'added to p99, ms', better: 'lower' },
  },
  contestants: LEVELS.flatMap((level) => TOOLS.map((tool) => ({ ...tool, name: at(tool.name, level), beside: at('sonagi', level), level, alone: tool.name, }))),

  /** Looks for the tool's maximum once for both levels. */
  async calibrate(contestant, execute, found) {
    const { alone, level } = contestant;
    const known = [...found.values()].find(({ tool }) => tool === alone);
    const most = known?.maximum ?? (await maximum(contestant, execute));
    return { tool: alone, maximum: most, ...load(Math.round(most * level), SECONDS) };
  },

  claims: [
    { says: 'reported p99 within 1 ms of the server’s at 50 %', measure: 'added_p99_ms', of: 'sonagi at 50 %', atMost: 1 },
    { says: 'nothing missed at 50 %', measure: 'missed', of: 'sonagi at 50 %', atMost: 0 },
    { says: 'reported p99 within 3 ms of the server’s at 90 %', measure: 'added_p99_ms', of: 'sonagi at 90 %', atMost: 3 },
    { says: 'nothing missed at 90 %', measure: 'missed', of: 'sonagi at 90 %', atMost: 0 },
  ],
};
