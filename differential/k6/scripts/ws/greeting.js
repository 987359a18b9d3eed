// k6/ws: a message that is there before anybody listens; handlers set late, several, and unknown ones
import ws from 'k6/ws';
export const options = { iterations: 1 };
export default function () {
  ws.connect(`${__ENV.TARGET_WS}/greet`, (socket) => {
    socket.on('message', (text) => console.log('first handler', text));
    socket.on('message', (text) => { console.log('second handler', text); socket.close(); });
    socket.on('nothing', () => {});
    socket.on('open', () => console.log('open'));
  });
  ws.connect(`${__ENV.TARGET_WS}/leave`, (socket) => { socket.on('close', (code) => console.log('close', code)); });
}
