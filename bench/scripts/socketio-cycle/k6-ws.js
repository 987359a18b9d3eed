// The cycle by k6. It has no Socket.IO, so its users write the frames by hand: `40` joins the namespace, `420[…]` is an event
// that asks for acknowledgement 0, `430` is that acknowledgement. With LOGIN=1 everybody logs in first, each time.
import http from 'k6/http';
import ws from 'k6/ws';
import { Counter } from 'k6/metrics';

const base = __ENV.TARGET;
const url = `${base.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`;
const cycles = new Counter('cycles');
const each = __ENV.LOGIN === '1';

export const options = {
  scenarios: { cycle: { executor: 'constant-vus', vus: Number(__ENV.USERS), duration: `${__ENV.SECONDS}s`, gracefulStop: '0s' } },
  systemTags: [],
};

function login() {
  const credentials = JSON.stringify({ email: 'user1@example.test', password: 'password' });
  return http.post(`${base}/auth/login`, credentials, { headers: { 'content-type': 'application/json' } }).json('access_token');
}

export const setup = () => ({ token: login() });

export default function (shared) {
  const token = each ? login() : shared.token;
  let acknowledged = 0;
  ws.connect(url, null, (socket) => {
    socket.on('message', (text) => {
      if (text[0] === '0') socket.send(`40{"token":"${token}"}`);
      else if (text.startsWith('40')) socket.send('420["sendMessage",{"roomId":"lobby","content":"hello"}]');
      else if (text.startsWith('430')) {
        acknowledged = 1;
        socket.close();
      }
    });
  });
  cycles.add(acknowledged);
}

const total = (data, name) => data.metrics[name]?.values.count ?? 0;
export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ cycles: total(data, 'cycles') })}\n` });
