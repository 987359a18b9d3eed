import { costs, steady } from '../lib/steady.mjs';
import { artillery, k6, node, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const USERS = 50;
const SECONDS = 3;
/** Arrivals a second of Artillery, which knows no users that come back: as many as it can start on one core. */
const RATE = 2000;

/** Start-up is left out. The target counts frames, each tool's own number of them to a cycle. */
const during = steady({ begun: ({ frames_in }) => frames_in > 0, count: ({ frames_in }) => frames_in, settle_ms: 700, window_ms: 1500 });

/** The official server tells nothing of itself: there all is of the whole run. */
function figures(cycles, seconds, falls_short, { during: window, target }) {
  if (!target.stats) return { operations: cycles, seconds, cycles_per_s: cycles / seconds, falls_short };
  if (!window) throw new Error('it was over too soon');
  const frames = (window.frames * cycles) / target.stats.frames_in;
  return { operations: cycles, seconds, cycles_per_s: frames / window.seconds, ...costs({ ...window, frames }), falls_short };
}
const counted = ({ cycles, seconds = SECONDS }, outcome) => figures(cycles, seconds, cycles > 0 ? undefined : 'no cycle was completed', outcome);

const yaml = (script) => ({
  ...sonagi.script(`socketio-cycle/${script}.yml`, { USERS, SECONDS }),
  measure: (summary, outcome) => figures(summary.users.completed, SECONDS, objections(summary, { saturating: true }), outcome),
});
const byK6 = (parameters) => ({ ...k6.script('socketio-cycle/k6-ws.js', { USERS, SECONDS, ...parameters }), measure: counted });
const byClient = (parameters) => ({ ...node.script('socketio-cycle/socketio-client.mjs', { USERS, SECONDS, ...parameters }), measure: counted });
const byArtillery = {
  ...artillery.script('socketio-cycle/artillery.yml', { SECONDS, RATE }),
  measure: (aggregate, outcome) => {
    const { counters, firstMetricAt, lastMetricAt } = aggregate;
    // It stretches its phase when it cannot keep up: what counts is from the first arrival to the last completion.
    return figures(counters['vusers.completed'], (lastMetricAt - firstMetricAt) / 1000, artillery.errors(aggregate), outcome);
  },
};
const LOGIN = { LOGIN: 1 };

export default {
  name: 'socketio-cycle',
  title: 'Socket.IO: connect, emit, acknowledgement, disconnect',
  about:
    `${USERS} users go through the cycle over and over by WebSocket; with *login* each asks for a token over HTTP first. k6 has no Socket.IO: its users write the frames by hand. ` +
    'The client in Node is socket.io-client in a bare loop. Rows on *socketio-node* have the official server as their target, which is the limit of both. Rate and CPU are those of a second and a half in the middle (on *socketio-node*: of the whole run).',
  operation: 'cycle',
  seconds: SECONDS + 0.4,
  headline: 'cpu_us',
  measures: { cycles_per_s: { label: 'cycles/s', better: 'higher' } },
  contestants: [
    { name: 'sonagi', during, ...yaml('sonagi') },
    { name: 'k6, hand-written frames', during, ...byK6() },
    { name: 'socket.io-client on Node', during, ...byClient() },
    { name: 'artillery', seconds: SECONDS + 8, slow: true, during, ...byArtillery },
    { name: 'sonagi, login', beside: 'sonagi, login', during, rounds: 2, ...yaml('sonagi-login') },
    { name: 'k6, login', beside: 'sonagi, login', slow: true, during, ...byK6(LOGIN) },
    { name: 'socket.io-client, login', beside: 'sonagi, login', slow: true, during, ...byClient(LOGIN) },
    { name: 'sonagi on socketio-node', target: 'socketio-node', rounds: 2, ...yaml('sonagi') },
    { name: 'socket.io-client on socketio-node', target: 'socketio-node', slow: true, ...byClient() },
    { name: 'k6 on socketio-node', target: 'socketio-node', slow: true, ...byK6() },
  ],
  claims: [{ says: 'at least 6,000 cycles/s on one core', measure: 'cycles_per_s', of: 'sonagi', atLeast: 6000 }],
};
