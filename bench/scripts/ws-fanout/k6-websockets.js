// The room by k6/websockets: callbacks on the user's event loop. Counting and time table as in k6-ws.js.
import { WebSocket } from 'k6/websockets';
import { Counter } from 'k6/metrics';

const users = Number(__ENV.USERS);
const seconds = Number(__ENV.SECONDS);
const QUIET_MS = 1500;
const url = `${__ENV.TARGET.replace('http', 'ws')}/ws/room/shower`;
const payload = '.'.repeat(86);
const received = new Counter('received');
const sent = new Counter('sent');

export const options = {
  scenarios: { room: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: '60s' } },
  systemTags: [],
};

export default function () {
  setTimeout(enter, (1000 * (__VU - 1)) / users);
}

function enter() {
  let heard = 0;
  let said = 0;
  const socket = new WebSocket(url);
  const say = () => {
    said += 1;
    socket.send(payload);
    if (said === seconds) clearInterval(talking);
  };
  let talking;
  socket.onmessage = () => {
    heard += 1;
  };
  socket.onopen = () => {
    setTimeout(() => {
      talking = setInterval(say, 1000);
      say();
    }, QUIET_MS);
    setTimeout(() => socket.close(), 2 * QUIET_MS + (seconds - 1) * 1000);
  };
  socket.onclose = () => {
    // The first frame says `joined`.
    received.add(Math.max(0, heard - 1));
    sent.add(said);
  };
}

const total = (data, name) => data.metrics[name]?.values.count ?? 0;
export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ sent: total(data, 'sent'), received: total(data, 'received') })}\n` });
