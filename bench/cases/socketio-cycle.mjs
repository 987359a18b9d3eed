import { artillery, k6, node, sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';

const USERS = 50;
const SECONDS = 3;
/** Arrivals a second of Artillery, which knows no users that come back: as many as it can start on one core. */
const RATE = 2000;

const figures = (cycles, seconds, falls_short) => ({ operations: cycles, seconds, cycles_per_s: cycles / seconds, falls_short });
const counted = ({ cycles, seconds = SECONDS }) => figures(cycles, seconds, cycles > 0 ? undefined : 'no cycle was completed');

const yaml = (script) => ({
  ...sonagi.script(`socketio-cycle/${script}.yml`, { USERS, SECONDS }),
  measure: (summary) => figures(summary.users.completed, SECONDS, objections(summary)),
});
const byK6 = (parameters) => ({ ...k6.script('socketio-cycle/k6-ws.js', { USERS, SECONDS, ...parameters }), measure: counted });
const byClient = (parameters) => ({ ...node.script('socketio-cycle/socketio-client.mjs', { USERS, SECONDS, ...parameters }), measure: counted });
const byArtillery = {
  ...artillery.script('socketio-cycle/artillery.yml', { SECONDS, RATE }),
  measure: (aggregate) => {
    const { counters, firstMetricAt, lastMetricAt } = aggregate;
    // It stretches its phase when it cannot keep up: what counts is from the first arrival to the last completion.
    return figures(counters['vusers.completed'], (lastMetricAt - firstMetricAt) / 1000, artillery.errors(aggregate));
  },
};
const LOGIN = { LOGIN: 1 };

export default {
  name: 'socketio-cycle',
  title: 'Socket.IO: connect, emit, acknowledgement, disconnect',
  about:
    `${USERS} users go through the cycle over and over by WebSocket; with *login* each asks for a token over HTTP first. k6 has no Socket.IO: its users write the frames by hand. ` +
    'The client in Node is socket.io-client in a bare loop. Rows on *socketio-node* have the official server as their target, which is the limit of both.',
  operation: 'cycle',
  seconds: SECONDS + 1,
  headline: 'cpu_us',
  measures: { cycles_per_s: { label: 'cycles/s', better: 'higher' } },
  contestants: [
    { name: 'sonagi', ...yaml('sonagi') },
    { name: 'k6, hand-written frames', ...byK6() },
    { name: 'socket.io-client on Node', ...byClient() },
    { name: 'artillery', seconds: SECONDS + 8, slow: true, ...byArtillery },
    { name: 'sonagi, login', ...yaml('sonagi-login') },
    { name: 'k6, login', beside: 'sonagi, login', slow: true, ...byK6(LOGIN) },
    { name: 'socket.io-client, login', beside: 'sonagi, login', slow: true, ...byClient(LOGIN) },
    { name: 'sonagi on socketio-node', target: 'socketio-node', ...yaml('sonagi') },
    { name: 'socket.io-client on socketio-node', target: 'socketio-node', slow: true, ...byClient() },
    { name: 'k6 on socketio-node', target: 'socketio-node', slow: true, ...byK6() },
  ],
  claims: [{ says: 'at least 6,000 cycles/s on one core', measure: 'cycles_per_s', of: 'sonagi', atLeast: 6000 }],
};
