import { costs, steady } from '../lib/steady.mjs';
import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const USERS = 50;
/** Short: each connection leaves a port behind that rests for a minute, and there are 28,000 of them. */
const SECONDS = 2;

/** Start-up is left out, because it would weigh as the run is short. The target counts each upgrade as a request. */
const during = steady({ begun: ({ connections }) => connections > 1, count: ({ requests }) => requests, settle_ms: 300, window_ms: 1200 });

function figures({ connections, seconds = SECONDS, falls_short }, { during: window }) {
  if (!window) throw new Error('it was over too soon');
  return { operations: connections, seconds, connections_per_s: window.frames / window.seconds, ...costs(window), falls_short };
}

export default {
  name: 'connect-rate',
  title: 'WebSocket connect and close, 50 at a time',
  about:
    'TCP connection, upgrade, close, and the next one. Artillery has no closed model: it is given 1,500 users a second, which it can carry, and only its CPU per connection can be compared. Rate and CPU are those of 1.2 s in the middle, without start-up.',
  operation: 'connection',
  seconds: SECONDS,
  headline: 'cpu_us',
  measures: { connections_per_s: { label: 'connections/s', better: 'higher' } },
  contestants: [
    {
      name: 'sonagi',
      ...sonagi.script('connect-rate/sonagi.yml', { USERS, SECONDS }),
      measure: (summary, outcome) =>
        figures({ connections: summary.traffic.connections_opened, seconds: summary.duration_s, falls_short: objections(summary, { saturating: true }) }, outcome),
    },
    { name: 'bare', ...bare.run('connect', ['/ws/echo', '--seconds', SECONDS, '--concurrency', USERS]), measure: figures },
    { name: 'k6/ws', ...k6.script('connect-rate/k6-ws.js', { USERS, SECONDS }), measure: figures },
    {
      name: 'artillery',
      slow: true,
      ...artillery.script('connect-rate/artillery.yml', { RATE: 1500, SECONDS }),
      measure: (aggregate, outcome) => figures({ connections: aggregate.counters['vusers.completed'], falls_short: artillery.errors(aggregate) }, outcome),
    },
  ].map((contestant) => ({ ...contestant, during })),
  claims: [],
};
