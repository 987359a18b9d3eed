// STOMP framed by hand, with \u0000, over k6/ws
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/echo`, { headers: { 'Sec-WebSocket-Protocol': 'v12.stomp' } }, (socket) => {
    socket.on('open', () => socket.send('CONNECT\naccept-version:1.2\nheart-beat:0,0\n\n\u0000'));
    socket.on('message', (frame) => { console.log(JSON.stringify(frame)); socket.close(); });
  });
}
