// The room by k6/ws: one user, one blocking connection. Received messages are counted in a plain variable and handed to the
// metric once, which is the cheapest form k6 has; the time table is that of ledger.yml.
import ws from 'k6/ws';
import { sleep } from 'k6';
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
  sleep((__VU - 1) / users);
  let heard = 0;
  let said = 0;
  ws.connect(url, null, (socket) => {
    const say = () => {
      if (said === seconds) return;
      said += 1;
      socket.send(payload);
    };
    socket.on('message', () => {
      heard += 1;
    });
    socket.on('open', () => {
      socket.setTimeout(() => {
        say();
        socket.setInterval(say, 1000);
      }, QUIET_MS);
      socket.setTimeout(() => socket.close(), 2 * QUIET_MS + (seconds - 1) * 1000);
    });
  });
  // The first frame says `joined`.
  received.add(Math.max(0, heard - 1));
  sent.add(said);
}

const total = (data, name) => data.metrics[name]?.values.count ?? 0;
export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ sent: total(data, 'sent'), received: total(data, 'received') })}\n` });
