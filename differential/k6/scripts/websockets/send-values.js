// k6/websockets: send of what is neither text nor bytes, and before the socket is open
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
  try { socket.send('early'); } catch (error) { console.log('early throws', error.name); }
  socket.onopen = () => {
    for (const value of [7, true, null, undefined, { a: 1 }]) { try { socket.send(value); console.log('send', String(value), 'works'); } catch (error) { console.log('send', String(value), 'throws', error.name); } }
    socket.send('bye');
  };
  socket.onmessage = ({ data }) => console.log('message', data);
}
