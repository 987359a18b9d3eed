// k6/websockets: a socket beside the iteration; events and their members
// quick
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 2 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
  console.log('made', socket.readyState, socket.url.replace(__ENV.TARGET_WS, ''), socket.bufferedAmount, socket.binaryType, JSON.stringify(socket.extensions), JSON.stringify(socket.protocol), WebSocket.OPEN);
  socket.onopen = (event) => { console.log('open', Object.keys(event).sort().join(' '), event.type, socket.readyState, typeof event.timestamp); socket.send('first'); };
  socket.addEventListener('message', (event) => { console.log('message', Object.keys(event).sort().join(' '), event.data, typeof event.data, event.origin === undefined || event.origin.length > 0); socket.close(); console.log('closing', socket.readyState); });
  socket.onclose = (event) => console.log('close', Object.keys(event).sort().join(' '), event.code, event.reason, event.wasClean, socket.readyState);
  socket.onerror = (event) => console.log('error', event.error);
  console.log('returned');
}
