// As k6-ws.js, by k6/websockets.
import { WebSocket } from 'k6/websockets';

export const options = { scenarios: { room: { executor: 'per-vu-iterations', vus: 1, iterations: 1 } } };

const [messages, burst] = [Number(__ENV.N), Number(__ENV.BURST)];

export default function () {
  let heard = 0;
  const socket = new WebSocket('ws://simulated/');
  socket.onmessage = () => {
    heard += 1;
    if (heard === messages) socket.close();
    else if (heard % burst === 0) socket.send('more');
  };
  socket.onopen = () => socket.send('more');
}
