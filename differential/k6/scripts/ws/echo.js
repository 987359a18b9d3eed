// k6/ws: connect, events, send, close; what the response has
// quick
import ws from 'k6/ws';
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () {
  const r = ws.connect(`${__ENV.TARGET_WS}/echo`, null, (socket) => {
    console.log('callback', Object.keys(socket).sort().join(' '));
    socket.on('open', () => { console.log('open'); socket.send('first'); });
    socket.on('message', (text) => { console.log('message', text, typeof text); socket.close(); });
    socket.on('close', (code) => console.log('close', code, typeof code));
    socket.on('error', (error) => console.log('error', error.error()));
  });
  console.log(Object.keys(r).sort().join(' '), r.status, r.url.replace(__ENV.TARGET_WS, ''), r.body === '', r.error === '', Object.keys(r.headers).sort().join(' '));
  check(r, { 'status is 101': (r) => r && r.status === 101 });
}
