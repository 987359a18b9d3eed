// The idle users by k6/ws. k6 needs a user of its own, with a JavaScript engine of its own, for every connection.
import ws from 'k6/ws';
import { sleep } from 'k6';

const users = Number(__ENV.USERS);
const url = `${__ENV.TARGET.replace('http', 'ws')}/ws/echo`;

export const options = {
  scenarios: { held: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: '90s' } },
  systemTags: [],
};

export default function () {
  sleep((__VU - 1) / users);
  ws.connect(url, null, (socket) => {
    socket.on('open', () => {
      const say = () => socket.send('still here');
      socket.setTimeout(say, 500);
      socket.setTimeout(say, 5500);
      socket.setTimeout(() => socket.close(), 5500 + Number(__ENV.STAY) * 1000);
    });
  });
}

const total = (data, name) => data.metrics[name]?.values.count ?? 0;
export const handleSummary = (data) => ({
  stdout: `${JSON.stringify({ users: total(data, 'ws_sessions'), sent: total(data, 'ws_msgs_sent'), received: total(data, 'ws_msgs_received') })}\n`,
});
