// Socket.IO framed by hand over k6/websockets
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo?EIO=4&transport=websocket`);
  let answered = 0;
  socket.onopen = () => { socket.send('40'); socket.send('42["message",{"text":"hi"}]'); socket.send('2'); };
  socket.onmessage = ({ data }) => { console.log(data); answered += 1; if (answered === 3) socket.close(); };
}
