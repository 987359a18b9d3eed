// k6/ws: texts, bytes, fragments, several at once, long ones
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/echo`, (socket) => {
    let left = 9;
    const one = () => { left -= 1; if (left === 0) socket.close(); };
    socket.on('open', () => { socket.send('many 3'); socket.send('parts'); socket.send('bytes 1 2 255'); socket.sendBinary(new Uint8Array([7, 8]).buffer); socket.send('naïve 소나기'); socket.send('long 70000'); socket.send(''); });
    socket.on('message', (text) => { console.log('message', text.length > 100 ? text.length : text); one(); });
    socket.on('binaryMessage', (bytes) => { console.log('binary', bytes instanceof ArrayBuffer, new Uint8Array(bytes).join()); one(); });
  });
}
