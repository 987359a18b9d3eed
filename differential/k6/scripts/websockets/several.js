// k6/websockets: several sockets beside each other in one user
// order: connections
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 1 };
export default function () {
  for (const name of ['one', 'two', 'three']) {
    const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
    socket.onopen = () => socket.send(name);
    socket.onmessage = ({ data }) => { console.log(data); socket.close(); };
  }
}
