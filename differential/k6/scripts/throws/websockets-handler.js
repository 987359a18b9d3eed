// A throw in a handler of k6/websockets
// quick
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 2 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/greet`);
  socket.onmessage = () => { throw new Error(`in message of ${__ITER}`); };
  socket.onclose = () => console.log('close', __ITER);
  socket.onerror = (event) => console.log('error', event.error.split(' at ')[0]);
}
