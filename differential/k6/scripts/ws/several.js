// k6/ws: one behind the other in an iteration, each a session; users beside each other
// order: connections
import ws from 'k6/ws';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 1 } } };
export default function () {
  for (const name of ['one', 'two']) ws.connect(`${__ENV.TARGET_WS}/echo`, (socket) => { socket.on('open', () => socket.send(`${name} of ${__VU}`)); socket.on('message', (text) => { console.log(text); socket.close(); }); });
}
