// Sockets held open that say a word a second, by both of k6's WebSocket modules: `sonagi serve`, then `sonagi run websocket.js`.
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';

const url = `${__ENV.SERVE_WS || 'ws://127.0.0.1:8080'}/ws`;
const said = new Counter('words_said');

export const options = {
  scenarios: {
    blocking: { executor: 'per-vu-iterations', vus: 5, iterations: 1, exec: 'blocking' },
    evented: { executor: 'per-vu-iterations', vus: 5, iterations: 1, exec: 'evented' },
  },
  thresholds: { checks: ['rate==1'], words_said: ['count>=20'] },
};

export function blocking() {
  const response = ws.connect(url, { tags: { from: 'k6/ws' } }, (socket) => {
    socket.on('open', () => {
      socket.setInterval(() => (socket.send(`user ${exec.vu.idInTest} is here`), said.add(1)), 1000);
      socket.setTimeout(() => socket.close(), 3500);
    });
    socket.on('error', (error) => console.error(error.error()));
  });
  check(response, { 'status is 101': (r) => r && r.status === 101 });
}

export function evented() {
  const socket = new WebSocket(url, null, { tags: { from: 'k6/websockets' } });
  socket.onopen = () => {
    const ticking = setInterval(() => (socket.send(`user ${exec.vu.idInTest} is here`), said.add(1)), 1000);
    setTimeout(() => (clearInterval(ticking), socket.close()), 3500);
  };
  socket.onerror = ({ error }) => console.error(error);
}
