// k6/websockets: binaryType blob, Blob
import { WebSocket, Blob } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  const blob = new Blob(['ab', 'c'], { type: 'text/own' });
  console.log(typeof Blob, blob.size, blob.type);
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
  console.log(socket.binaryType);
  try { socket.binaryType = 'text'; console.log('taken'); } catch (error) { console.log('throws', error.name); }
  socket.onopen = () => socket.send(new Uint8Array([97, 98]));
  socket.onmessage = async ({ data }) => { console.log(typeof data, data instanceof Blob, data.size, await data.text(), new Uint8Array(await data.arrayBuffer()).join()); socket.close(); };
}
