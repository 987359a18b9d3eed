// k6/ws: handshakes that fail: by status, by the network, by the address
// quick
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  for (const url of [`${__ENV.TARGET_WS}/refuse/403`, `${__ENV.TARGET_WS}/moved`, `${__ENV.TARGET_WS}/hangup`, 'ws://127.0.0.1:1/', 'http://127.0.0.1:1/', 'nonsense']) {
    const path = url.replace(__ENV.TARGET_WS, '');
    try {
      const r = ws.connect(url, (socket) => {
        socket.on('error', (error) => console.log(path, 'error event', error.error().split(':').pop()));
        socket.on('open', () => console.log('never'));
      });
      console.log(path, r.status, r.error.split(':').pop(), r.body, JSON.stringify(r.headers && r.headers['X-Why']));
    } catch (error) { console.log(path, 'throws', error.name); }
  }
}
