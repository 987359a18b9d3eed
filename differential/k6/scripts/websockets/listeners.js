// k6/websockets: listeners beside on*, in their order; removing what there is; unknown events
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/greet`);
  socket.addEventListener('message', () => console.log('listener 1'));
  socket.onmessage = () => console.log('on');
  socket.addEventListener('message', () => { console.log('listener 2'); socket.close(); });
  console.log(typeof socket.onmessage, typeof socket.removeEventListener);
  try { socket.addEventListener('nothing', () => {}); console.log('taken'); } catch (error) { console.log('throws', error.name); }
  try { socket.onopen = 7; console.log('taken'); } catch (error) { console.log('throws', error.name); }
}
