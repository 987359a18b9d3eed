// k6/websockets: ping and pong, pings of the target
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/quiet`);
  socket.onopen = () => { socket.ping(); socket.send('ping from-target'); setTimeout(() => socket.close(), 400); };
  socket.addEventListener('ping', (event) => console.log('ping', event.type, event.data));
  socket.addEventListener('pong', (event) => console.log('pong', event.type, event.data));
}
