// Ping-pong by k6/ws: USERS blocking connections, echoes counted in a plain variable.
import ws from 'k6/ws';
import { Counter } from 'k6/metrics';

const users = Number(__ENV.USERS);
const seconds = Number(__ENV.SECONDS);
const url = `${__ENV.TARGET.replace('http', 'ws')}/ws/echo`;
const payload = '.'.repeat(100);
const messages = new Counter('messages');

export const options = {
  scenarios: { echo: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: '60s' } },
  systemTags: [],
};

export default function () {
  let heard = 0;
  ws.connect(url, null, (socket) => {
    socket.on('open', () => {
      socket.setTimeout(() => socket.close(), 1000 * seconds);
      socket.send(payload);
    });
    socket.on('message', () => {
      heard += 1;
      socket.send(payload);
    });
  });
  messages.add(heard);
}

export const handleSummary = ({ metrics }) => ({ stdout: `${JSON.stringify({ messages: metrics.messages.values.count })}\n` });
