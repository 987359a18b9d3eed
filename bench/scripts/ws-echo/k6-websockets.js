// Ping-pong by k6/websockets: callbacks on each user's event loop.
import { WebSocket } from 'k6/websockets';
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
  const socket = new WebSocket(url);
  socket.onopen = () => {
    setTimeout(() => socket.close(), 1000 * seconds);
    socket.send(payload);
  };
  socket.onmessage = () => {
    heard += 1;
    socket.send(payload);
  };
  socket.onclose = () => messages.add(heard);
}

export const handleSummary = ({ metrics }) => ({ stdout: `${JSON.stringify({ messages: metrics.messages.values.count })}\n` });
