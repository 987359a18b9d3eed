// k6/ws: ping, pong, and pings of the target
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/quiet`, (socket) => {
    socket.on('open', () => { socket.ping(); socket.send('ping from-target'); });
    socket.on('ping', (...given) => { console.log('ping', given.length); });
    socket.on('pong', (...given) => { console.log('pong', given.length); });
    socket.setTimeout(() => socket.close(), 400);
  });
}
