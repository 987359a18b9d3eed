// k6/websockets: close codes and reasons, as the target gets and as it gives them
import { WebSocket } from 'k6/websockets';
export const options = { iterations: 7 };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo?${__ITER}`);
  socket.onopen = () => [() => socket.close(), () => socket.close(4000, 'mine'), () => socket.send('bye 4001 with a reason'), () => socket.send('leave'), () => { socket.close(); socket.close(4000); }, () => socket.send('drop'), () => { try { socket.close(999); } catch (error) { console.log('throws', error.name); socket.close(); } }][__ITER]();
  socket.onerror = ({ error }) => console.log(__ITER, 'error', error);
  socket.onclose = ({ code, reason, wasClean }) => console.log(__ITER, 'close', code, reason, wasClean);
}
