import { costs, steady } from '../lib/steady.mjs';
import { artillery, bare, k6, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const USERS = 50;
const SECONDS = 3;
const PARAMETERS = { USERS, SECONDS };

/** Once all play; start-up is left out, because it would weigh as the run is short. */
const during = steady({ begun: ({ frames_in }) => frames_in > 0, settle_ms: 1200, window_ms: 1500 });

function figures({ messages, seconds = SECONDS, falls_short }, outcome) {
  if (!outcome.during) throw new Error('the ping-pong was over too soon');
  return { operations: messages, seconds, messages_per_s: outcome.during.frames / outcome.during.seconds, ...costs(outcome.during), falls_short };
}

const yaml = {
  during,
  ...sonagi.script('ws-echo/sonagi.yml', PARAMETERS),
  measure: (summary, outcome) =>
    figures({ messages: summary.traffic.messages_received, seconds: summary.duration_s, falls_short: objections(summary, { saturating: true }) }, outcome),
};
const loop = { during, ...bare.run('echo', ['/ws/echo', '--connections', USERS, '--seconds', SECONDS, '--bytes', 100]), measure: figures };
const byK6 = { during, ...k6.script('ws-echo/k6-ws.js', PARAMETERS), measure: figures };

export default {
  name: 'ws-echo',
  title: 'WebSocket echo, 50 connections, 100 bytes',
  about:
    'Each connection sends, waits for its echo, and sends again. Sonagi does it in two YAML steps, each timed and counted; k6 and Artillery by a callback that ' +
    'sends and counts, which is the cheapest they have and times nothing. Rate and CPU are those of a second and a half in the middle, without start-up.',
  operation: 'message',
  seconds: SECONDS,
  headline: 'cpu_us',
  measures: { messages_per_s: { label: 'messages/s', better: 'higher' } },
  contestants: [
    { name: 'sonagi', ...yaml },
    { name: 'bare', ...loop },
    { name: 'k6/ws', ...byK6 },
    { name: 'k6/websockets', during, ...k6.script('ws-echo/k6-websockets.js', PARAMETERS), measure: figures },
    {
      name: 'artillery, own handler',
      during,
      ...artillery.script('ws-echo/artillery.yml', PARAMETERS),
      measure: (aggregate, outcome) => figures({ messages: aggregate.counters.heard, falls_short: artillery.errors(aggregate) }, outcome),
    },
    { name: 'sonagi on bun', ...yaml, target: 'bun', rounds: 2 },
    { name: 'bare on bun', ...loop, target: 'bun', slow: true },
    { name: 'k6/ws on bun', ...byK6, target: 'bun', slow: true },
  ],
  claims: [
    { says: '≤ 1.6 × the CPU of the bare loop', measure: 'cpu_us', of: 'sonagi', against: 'bare', atMost: 1.6 },
    { says: '≥ 1.4 × better than the best peer', measure: 'cpu_us', of: ['k6/ws', 'k6/websockets', 'artillery, own handler'], against: 'sonagi', atLeast: 1.4 },
  ],
};
