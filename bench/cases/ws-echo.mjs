import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const USERS = 50;
const SECONDS = 3;
const PARAMETERS = { USERS, SECONDS };

const figures = (messages, seconds = SECONDS, falls_short) => ({ operations: messages, seconds, messages_per_s: messages / seconds, falls_short });
const lineOf = ({ messages, seconds }) => figures(messages, seconds);

const yaml = {
  ...sonagi.script('ws-echo/sonagi.yml', PARAMETERS),
  measure: (summary) => figures(summary.traffic.messages_received, summary.duration_s, objections({ ...summary, verdict: {} })),
};
const loop = { ...bare.run('echo', ['/ws/echo', '--connections', USERS, '--seconds', SECONDS, '--bytes', 100]), measure: lineOf };
const byK6 = { ...k6.script('ws-echo/k6-ws.js', PARAMETERS), measure: lineOf };

export default {
  name: 'ws-echo',
  title: 'WebSocket echo, 50 connections, 100 bytes',
  about:
    'Each connection sends, waits for its echo, and sends again. Sonagi does it in two YAML steps, each timed and counted; k6 and Artillery by a callback that ' +
    'sends and counts, which is the cheapest they have and times nothing.',
  operation: 'message',
  seconds: SECONDS,
  headline: 'cpu_us',
  measures: { messages_per_s: { label: 'messages/s', better: 'higher' } },
  contestants: [
    { name: 'sonagi', ...yaml },
    { name: 'bare', ...loop },
    { name: 'k6/ws', ...byK6 },
    { name: 'k6/websockets', ...k6.script('ws-echo/k6-websockets.js', PARAMETERS), measure: lineOf },
    {
      name: 'artillery, own handler',
      ...artillery.script('ws-echo/artillery.yml', PARAMETERS),
      measure: (aggregate) => figures(aggregate.counters.heard, SECONDS, artillery.errors(aggregate)),
    },
    { name: 'sonagi on bun', ...yaml, target: 'bun' },
    { name: 'bare on bun', ...loop, target: 'bun' },
    { name: 'k6/ws on bun', ...byK6, target: 'bun' },
  ],
  claims: [
    { says: '≤ 1.6 × the CPU of the bare loop', measure: 'cpu_us', of: 'sonagi', against: 'bare', atMost: 1.6 },
    { says: '≥ 1.4 × better than the best peer', measure: 'cpu_us', of: ['k6/ws', 'k6/websockets', 'artillery, own handler'], against: 'sonagi', atLeast: 1.4 },
  ],
};
