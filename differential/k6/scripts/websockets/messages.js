// k6/websockets: texts, bytes by binaryType, views of bytes, fragments
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
  socket.binaryType = 'arraybuffer';
  let left = 8;
  socket.onopen = () => { socket.send('many 2'); socket.send('parts'); socket.send('bytes 1 255'); socket.send(new Uint8Array([7, 8]).buffer); socket.send(new Uint8Array([9])); socket.send(new Uint16Array([1, 2]).subarray(1)); socket.send('long 70000'); };
  socket.onmessage = ({ data }) => {
    console.log(typeof data === 'string' ? (data.length > 100 ? data.length : data) : `${data instanceof ArrayBuffer} ${new Uint8Array(data).join()}`);
    left -= 1; if (left === 0) socket.close();
  };
}
