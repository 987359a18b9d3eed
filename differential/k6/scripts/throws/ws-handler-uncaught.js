// A throw in a handler of k6/ws that nobody catches
import ws from 'k6/ws';
export const options = { iterations: 2 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/greet`, (socket) => { socket.on('open', () => { throw new Error('in open'); }); });
  console.log('never');
}
