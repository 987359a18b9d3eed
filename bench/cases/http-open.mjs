import { artillery, bare, k6, oha, sonagi } from '../tools/index.mjs';

const SECONDS = 4;
const LEVELS = [0.5, 0.9];
/** While the maximum is looked for: enough for 100,000 answers a second of 10 ms each, twice over. */
const CALIBRATION_CONNECTIONS = 2000;

const RATE = ({ calibration }) => calibration.rate;
const CONNECTIONS = ({ calibration }) => calibration.connections;

/** The figures of a row: what the tool says of itself beside what the server saw. */
function figures({ completed, under_way = 0, seconds = SECONDS, p50_ms, p99_ms, errors }, { calibration, target }) {
  const planned = calibration.rate * SECONDS;
  const missed = Math.max(0, 1 - (completed + under_way) / planned);
  const { p99_ms: server_p99_ms } = target.stats.after;
  const short = [errors, missed > 0 && `completed ${completed} of ${planned}`].filter(Boolean).join('; ');
  return {
    operations: completed,
    seconds,
    rate: calibration.rate,
    p50_ms,
    p99_ms,
    server_p99_ms,
    added_p99_ms: p99_ms - server_p99_ms,
    missed,
    falls_short: short || undefined,
  };
}

// How each is started, what it reports, and a rate that is more than it can carry on one core.
const TOOLS = [
  {
    name: 'sonagi',
    offer: 150_000,
    ...sonagi.script('http-open/sonagi.yml', { RATE, CONNECTIONS, SECONDS }),
    measure: ({ traffic, kinds, errors, duration_s }, outcome) => {
      const { p50, p99 } = kinds.find(({ kind }) => kind === 'http').response_ms;
      const failed = errors.map(({ code, count }) => `${count} × ${code}`).join('; ');
      return figures({ completed: traffic.http_responses, seconds: duration_s, p50_ms: p50, p99_ms: p99, errors: failed }, outcome);
    },
  },
  {
    name: 'bare',
    offer: 200_000,
    ...bare.run('open', ['/after/10ms', '--rate', RATE, '--connections', CONNECTIONS, '--seconds', SECONDS]),
    measure: ({ completed, p50_us, p99_us }, outcome) => figures({ completed, seconds: outcome.wall_s, p50_ms: p50_us / 1000, p99_ms: p99_us / 1000 }, outcome),
  },
  {
    name: 'oha',
    offer: 150_000,
    ...oha.open('/after/10ms', { rate: RATE, connections: CONNECTIONS, seconds: SECONDS }),
    measure: ({ requests, ...line }, outcome) => figures({ completed: requests, ...line }, outcome),
  },
  {
    name: 'k6',
    offer: 30_000,
    // It makes a user per connection before it starts.
    calibration_connections: 600,
    ...k6.script('http-open/k6.js', { RATE, CONNECTIONS, SECONDS }),
    measure: (line, outcome) => figures({ ...line, errors: line.failed ? `${line.failed} failed` : '' }, outcome),
  },
  {
    name: 'artillery',
    offer: 5000,
    calibration_connections: 400,
    ...artillery.script('http-open/artillery.yml', { RATE, CONNECTIONS, SECONDS }),
    measure: (aggregate, outcome) => {
      const { p50, p99 } = aggregate.summaries['http.response_time'];
      const seconds = (aggregate.lastCounterAt - aggregate.firstCounterAt) / 1000;
      return figures({ completed: aggregate.counters['http.responses'], seconds, p50_ms: p50, p99_ms: p99, errors: artillery.errors(aggregate) }, outcome);
    },
  },
];

/** Completed per second; a tool that works off what it was offered too much takes longer than it was to. */
async function capacity(run) {
  const { operations, loaded_s } = (await run).measures;
  return operations / Math.max(loaded_s, SECONDS);
}

const percent = (level) => `${level * 100} %`;

export default {
  name: 'http-open',
  title: 'HTTP open model over a server that answers in exactly 10 ms',
  about:
    'Requests are planned at a fixed rate, 50 % and 90 % of what the tool itself completes on this server when it is offered more than it can carry (found before the first round). ' +
    'The server measures each answer, too, from the request read to the answer written: what the tool reports above that, it added.',
  operation: 'request',
  seconds: SECONDS + 1,
  headline: 'added_p99_ms',
  measures: {
    rate: { label: 'offered/s', better: 'higher' },
    missed: { label: 'missed', unit: 'share', better: 'lower' },
    p50_ms: { label: 'its p50, ms', better: 'lower' },
    p99_ms: { label: 'its p99, ms', better: 'lower' },
    server_p99_ms: { label: "server's p99, ms" },
    added_p99_ms: { label: 'added to p99, ms', better: 'lower' },
  },
  contestants: LEVELS.flatMap((level) => TOOLS.map((tool) => ({ ...tool, name: `${tool.name} at ${percent(level)}`, level, alone: tool.name }))),

  /** Finds the tool's maximum once for both levels, and how many connections the level's rate needs: three times 10 ms of it. */
  async calibrate(contestant, execute, found) {
    const { alone, level, offer, calibration_connections: connections = CALIBRATION_CONNECTIONS } = contestant;
    const known = [...found.values()].find((one) => one.tool === alone);
    const maximum = known?.maximum ?? (await capacity(execute(contestant, { rate: offer, connections })));
    const rate = Math.round(maximum * level);
    return { tool: alone, maximum, rate, connections: Math.ceil(rate * 0.03) + 20 };
  },

  claims: [
    { says: 'reported p99 within 1 ms of the server’s at 50 %', measure: 'added_p99_ms', of: 'sonagi at 50 %', atMost: 1 },
    { says: 'nothing missed at 50 %', measure: 'missed', of: 'sonagi at 50 %', atMost: 0 },
    { says: 'reported p99 within 3 ms of the server’s at 90 %', measure: 'added_p99_ms', of: 'sonagi at 90 %', atMost: 3 },
    { says: 'nothing missed at 90 %', measure: 'missed', of: 'sonagi at 90 %', atMost: 0 },
  ],
};
