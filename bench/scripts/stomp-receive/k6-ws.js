// STOMP by k6/ws, its frames written by hand: CONNECT, SUBSCRIBE once CONNECTED, and every MESSAGE is counted by its first letters.
import ws from 'k6/ws';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const users = Number(__ENV.USERS);
const url = __ENV.TARGET.replace('http', 'ws') + __ENV.ROUTE;
const received = new Counter('received');
const CONNECT = 'CONNECT\naccept-version:1.2\nhost:localhost\nheart-beat:0,0\n\n\0';
const SUBSCRIBE = `SUBSCRIBE\nid:0\ndestination:${__ENV.DESTINATION}\n\n\0`;

export const options = {
  scenarios: { group: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: '60s' } },
  systemTags: [],
};

export default function () {
  sleep((__VU - 1) / users);
  let heard = 0;
  ws.connect(url, { headers: { 'sec-websocket-protocol': 'v12.stomp' } }, (socket) => {
    socket.on('message', (frame) => {
      if (frame.startsWith('MESSAGE')) heard += 1;
      else if (frame.startsWith('CONNECTED')) socket.send(SUBSCRIBE);
    });
    socket.on('open', () => {
      socket.send(CONNECT);
      socket.setTimeout(() => socket.close(), Number(__ENV.STAY) * 1000);
    });
  });
  received.add(heard);
}

export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ received: data.metrics.received?.values.count ?? 0 })}\n` });
