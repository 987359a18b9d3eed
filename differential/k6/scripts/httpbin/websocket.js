// httpbin: its WebSocket echo
// target: httpbin
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  ws.connect(`${__ENV.HTTPBIN_WS}/websocket/echo`, (socket) => { socket.on('open', () => socket.send('hello')); socket.on('message', (text) => { console.log(text); socket.close(1000); }); });
}
