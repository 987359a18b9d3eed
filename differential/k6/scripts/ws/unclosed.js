// k6/ws: a socket nobody closes keeps the iteration until gracefulStop
import ws from 'k6/ws';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '500ms' } } };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/quiet`, (socket) => { socket.on('open', () => socket.send('there')); });
}
