// k6/websockets: binaryType blob, Blob as a global, and what sending one does
import { WebSocket, Blob } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
  console.log(socket.binaryType);
  try { socket.binaryType = 'text'; console.log('taken'); } catch (error) { console.log('throws', error.name); }
  socket.binaryType = 'blob';
  socket.onopen = () => socket.send(new Blob(['ab', new Uint8Array([99]).buffer]));
  socket.onmessage = async ({ data }) => { console.log(Object.prototype.toString.call(data), data.size, await data.text()); socket.close(); };
}
