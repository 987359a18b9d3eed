// A throw in a handler of k6/ws: the socket is closed, connect throws
// quick
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  try {
    const response = ws.connect(`${__ENV.TARGET_WS}/greet`, (socket) => {
      socket.on('message', () => { throw new Error('in message'); });
      socket.on('close', (code) => console.log('close', code));
      socket.on('error', (error) => console.log('error', error.error()));
    });
    console.log('status', response.status);
  } catch (error) { console.log('caught', error.message); }
  console.log('goes on');
}
