// A throw in a timer of a k6/ws socket
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/quiet`, (socket) => {
    socket.setTimeout(() => { throw new Error('in a timer'); }, 20);
    socket.setTimeout(() => socket.close(), 500);
  });
  console.log('never');
}
