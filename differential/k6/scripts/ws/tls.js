// k6/ws over TLS
import ws from 'k6/ws';
export const options = { iterations: 1, insecureSkipTLSVerify: true };
export default function () {
  const r = ws.connect(`${__ENV.TLS_WS}/echo`, (socket) => { socket.on('open', () => socket.send('over TLS')); socket.on('message', (text) => { console.log(text); socket.close(); }); });
  console.log(r.status);
}
