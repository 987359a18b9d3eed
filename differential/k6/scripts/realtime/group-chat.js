// People who talk five times a second for a second: sent and heard are counted
// order: connections
import ws from 'k6/ws';
import { check } from 'k6';
import { Counter } from 'k6/metrics';
const sent = new Counter('sent'), heard = new Counter('heard');
export const options = { scenarios: { talk: { executor: 'per-vu-iterations', vus: 4, iterations: 1 } } };
export default function () {
  const r = ws.connect(`${__ENV.TARGET_WS}/echo`, (socket) => {
    socket.on('open', () => { socket.setInterval(() => { socket.send(JSON.stringify({ from: __VU, at: 0 })); sent.add(1); }, 200); });
    socket.on('message', () => heard.add(1));
    socket.setTimeout(() => socket.close(), 1100);
  });
  check(r, { 'status is 101': (r) => r.status === 101 });
}
