// k6/ws: a close code that may not be sent, send behind close
import ws from 'k6/ws';
export const options = { iterations: 2 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/echo`, (socket) => {
    socket.on('open', () => { if (__ITER === 0) { socket.close(1005); } else { socket.close(); socket.send('too late'); } });
    socket.on('error', (error) => console.log('error', error.error()));
    socket.on('close', (code) => console.log('close', code));
  });
}
