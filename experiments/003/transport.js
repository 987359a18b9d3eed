// Sharing a location over one transport, as a k6 script that is written from the client's side alone (README.md).
//
//   sonagi run experiments/003/transport.js -e TRANSPORT=polling -e SERVICE=spring -e USERS=1000
//   TRANSPORT: polling, longpolling, sse, websocket or stomp. SERVICE: spring (`scripts/setup.sh experiments` builds it) or
//   sonagi, which must be on the PATH, or in SONAGI_BIN.
import http from 'k6/http';
import ws from 'k6/ws';
import { check, sleep } from 'k6';

const TRANSPORT = __ENV.TRANSPORT || 'polling';
const SERVICE = __ENV.SERVICE || 'sonagi';
const USERS = Number(__ENV.USERS || 1000);
const SITE = '127.0.0.1:8003';
const SECONDS = 3;

export const options = {
  stages: [
    { duration: '20s', target: Math.min(300, USERS) },
    { duration: '30s', target: USERS },
    { duration: '10s', target: 0 },
  ],
  sonagi: {
    launch: { command: ['sh', 'service.sh', SERVICE], ready: `http://${SITE}/healthz`, patience: '90s' },
    watch: [`http://${SITE}/metrics`],
  },
};

const group = () => `group-${(__VU % 10) + 1}`;
const location = () => JSON.stringify({ lat: 37.5665, lng: 126.978 });
const json = { headers: { 'content-type': 'application/json' } };
const isOk = (answer) => check(answer, { 'status is 200': (it) => it.status >= 200 && it.status < 300 });

// Where this user's reading goes on: without it, an answer is at hand at once and nothing is waited for.
let next;
const after = () => (next === undefined ? '' : `?after=${encodeURIComponent(next)}`);
function follow(answer) {
  // A long poll that has waited for nothing is answered 204, without a body.
  if (answer.status === 200) next = answer.json('next');
  return isOk(answer);
}

const transports = {
  /** Says where it is, and asks what is new since the last answer. */
  polling() {
    isOk(http.post(`http://${SITE}/location/long/${group()}/notify`, location(), json));
    follow(http.get(`http://${SITE}/cur/${group()}${after()}`));
    sleep(SECONDS);
  },

  /** Says where it is, and waits for the answer that the next word of the group is. Its own word is one that it has not seen yet. */
  longpolling() {
    isOk(http.post(`http://${SITE}/location/long/${group()}/notify`, location(), json));
    const until = Date.now() + SECONDS * 1000;
    while (Date.now() < until) {
      // Who is refused asks again after a while only.
      if (!follow(http.get(`http://${SITE}/location/long/${group()}${after()}`, { timeout: '30s' }))) sleep(SECONDS);
    }
  },

  /** Shares by requests; the stream itself is in experiments/transports, as k6/http cannot read one that goes on. */
  sse() {
    isOk(http.post(`http://${SITE}/location/sse/share?group=${group()}`, location(), json));
    sleep(SECONDS);
  },

  /** One connection an iteration, on which one word is said. */
  websocket() {
    ws.connect(`ws://${SITE}/ws`, (socket) => {
      socket.on('open', () => {
        socket.send(JSON.stringify({ type: 'join', room: `location:${group()}` }));
        socket.send(JSON.stringify({ type: 'send', room: `location:${group()}`, content: location() }));
      });
      socket.setTimeout(() => socket.close(), SECONDS * 1000);
    });
  },

  /** The same in STOMP. */
  stomp() {
    const frame = (command, headers, body = '') => `${command}\n${headers.join('\n')}\n\n${body}\x00`;
    ws.connect(`ws://${SITE}/location`, (socket) => {
      socket.on('open', () => socket.send(frame('CONNECT', ['accept-version:1.2', 'host:localhost'])));
      socket.on('message', (text) => {
        if (!text.startsWith('CONNECTED')) return;
        socket.send(frame('SUBSCRIBE', ['id:0', `destination:/sub/location/${group()}`]));
        socket.send(frame('SEND', [`destination:/pub/share/${group()}`], location()));
      });
      socket.setTimeout(() => socket.close(), SECONDS * 1000);
    });
  },
};

export default () => {
  if (!transports[TRANSPORT]) throw new Error(`TRANSPORT is one of ${Object.keys(transports).join(', ')}; got ${TRANSPORT}`);
  transports[TRANSPORT]();
};
