// The room of k6-ws.js by k6/websockets.
import { Counter } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';

const seconds = Number(__ENV.SECONDS);
const [burst, every] = [Number(__ENV.BURST), Number(__ENV.EVERY_MS)];
const QUIET_MS = 500;
const url = `${__ENV.TARGET.replace('http', 'ws')}/ws/room/bursts`;
const payload = '.'.repeat(86);
const received = new Counter('received');
const sent = new Counter('sent');

export const options = {
  scenarios: { room: { executor: 'per-vu-iterations', vus: Number(__ENV.USERS), iterations: 1, maxDuration: '60s' } },
  systemTags: [],
};

export default function () {
  let heard = 0;
  let left = __VU === 1 ? (1000 * seconds) / every : 0;
  let talking;
  const socket = new WebSocket(url);
  const say = () => {
    if (left === 0) return clearInterval(talking);
    left -= 1;
    for (let n = 0; n < burst; n += 1) socket.send(payload);
    sent.add(burst);
  };
  socket.onmessage = () => {
    heard += 1;
  };
  socket.onopen = () => {
    setTimeout(() => (talking = setInterval(say, every)), QUIET_MS);
    setTimeout(() => (clearInterval(talking), socket.close()), 3 * QUIET_MS + seconds * 1000);
  };
  // The first frame says `joined`.
  socket.onclose = () => received.add(Math.max(0, heard - 1));
}

const total = (data, name) => data.metrics[name]?.values.count ?? 0;
export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ sent: total(data, 'sent'), received: total(data, 'received') })}\n` });
