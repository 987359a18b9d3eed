// k6/ws: frames that are none
import ws from 'k6/ws';
export const options = { iterations: 2 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/echo`, (socket) => {
    socket.on('open', () => socket.send(['broken', 'invalid'][__ITER]));
    socket.on('message', (text) => { console.log('message', text.length); socket.close(); });
    socket.on('error', (error) => console.log('error', error.error()));
    socket.on('close', (code) => console.log('close', code));
  });
}
