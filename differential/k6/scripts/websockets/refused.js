// k6/websockets: handshakes that fail
// quick
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 5 };
export default function () {
  const url = [`${__ENV.TARGET_WS}/refuse/403`, `${__ENV.TARGET_WS}/hangup`, 'ws://127.0.0.1:1/', 'http://127.0.0.1:1/', 'nonsense'][__ITER];
  try {
    const socket = new WebSocket(url);
    socket.onopen = () => console.log('never');
    socket.onerror = (event) => console.log(__ITER, 'error', Object.keys(event).sort().join(' '), typeof event.error, event.error.split(':').pop());
    socket.onclose = ({ code }) => console.log(__ITER, 'close', code);
  } catch (error) { console.log(__ITER, 'throws', error.name); }
}
