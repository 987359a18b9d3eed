// sonagi serve: the polls, the event stream's beginning, the sockets and STOMP of a published script
// target: serve
import http from 'k6/http';
import ws from 'k6/ws';
import { check } from 'k6';
export const options = { iterations: 1 };
const base = __ENV.SERVE, sockets = __ENV.SERVE_WS;
export default function () {
  check(http.get(`${base}/cur/3`), { 'short poll': (r) => r.status === 200 });
  check(http.post(`${base}/location/long/3/notify`), { notify: (r) => r.status === 200 });
  check(http.post(`${base}/location/sse/share`), { share: (r) => r.status === 200 });
  ws.connect(`${sockets}/ws`, (socket) => { socket.on('open', () => { socket.send('Hello from here'); socket.setTimeout(() => socket.close(), 200); }); });
  ws.connect(`${sockets}/location`, {}, (socket) => {
    socket.on('open', () => { socket.send('CONNECT\naccept-version:1.2\n\n\x00\n'); socket.send('SUBSCRIBE\nid:1\ndestination:/sub/location/3\n\n\x00\n'); socket.send(`SEND\ndestination:/pub/share/3\n\n${JSON.stringify({ content: 'Hi' })}\x00\n`); });
    socket.on('message', (text) => { console.log(text.split('\n')[0]); if (text.startsWith('MESSAGE')) socket.close(); });
    socket.setTimeout(() => socket.close(), 2000);
  });
}
