// STOMP by k6/websockets, as in k6-ws.js: callbacks on the user's event loop.
import { WebSocket } from 'k6/websockets';
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
  setTimeout(enter, (1000 * (__VU - 1)) / users);
}

function enter() {
  let heard = 0;
  const socket = new WebSocket(url, 'v12.stomp');
  socket.onmessage = ({ data }) => {
    if (data.startsWith('MESSAGE')) heard += 1;
    else if (data.startsWith('CONNECTED')) socket.send(SUBSCRIBE);
  };
  socket.onopen = () => {
    socket.send(CONNECT);
    setTimeout(() => socket.close(), Number(__ENV.STAY) * 1000);
  };
  socket.onclose = () => received.add(heard);
}

export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ received: data.metrics.received?.values.count ?? 0 })}\n` });
