import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const USERS = 50;
/** Short: each connection leaves a port behind that rests for a minute, and there are 28,000 of them. */
const SECONDS = 2;
const COUNT = 20_000;

const figures = (connections, seconds = SECONDS, falls_short) => ({ operations: connections, seconds, connections_per_s: connections / seconds, falls_short });

export default {
  name: 'connect-rate',
  title: 'WebSocket connect and close, 50 at a time',
  about:
    'TCP connection, upgrade, close, and the next one. Artillery has no closed model: it is given 1,500 users a second, which it can carry, and only its CPU per connection can be compared.',
  operation: 'connection',
  seconds: SECONDS,
  headline: 'cpu_us',
  measures: { connections_per_s: { label: 'connections/s', better: 'higher' } },
  contestants: [
    {
      name: 'sonagi',
      ...sonagi.script('connect-rate/sonagi.yml', { USERS, SECONDS }),
      measure: (summary) => figures(summary.traffic.connections_opened, summary.duration_s, objections({ ...summary, verdict: {} })),
    },
    { name: 'bare', ...bare.run('connect', ['/ws/echo', '--count', COUNT, '--concurrency', USERS]), measure: ({ connections, seconds }) => figures(connections, seconds) },
    { name: 'k6/ws', ...k6.script('connect-rate/k6-ws.js', { USERS, SECONDS }), measure: ({ connections }) => figures(connections) },
    {
      name: 'artillery',
      ...artillery.script('connect-rate/artillery.yml', { RATE: 1500, SECONDS }),
      measure: (aggregate) => figures(aggregate.counters['vusers.completed'], SECONDS, artillery.errors(aggregate)),
    },
  ],
  claims: [],
};
