// k6/websockets: a socket nobody closes keeps the iteration until gracefulStop
import { WebSocket } from 'k6/websockets';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '500ms' } } };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/quiet`);
  socket.onopen = () => socket.send('there');
  console.log('returned');
}
