// k6/ws: setTimeout and setInterval of a socket: a fixed ticker, over with the socket
import ws from 'k6/ws';
import { sleep } from 'k6';
export const options = { iterations: 1 };
export default function () {
  const begun = Date.now();
  let ticks = 0;
  ws.connect(`${__ENV.TARGET_WS}/quiet`, (socket) => {
    socket.setTimeout(() => console.log('timeout', Math.round((Date.now() - begun) / 150) * 150), 300);
    socket.setInterval(() => { ticks += 1; if (ticks < 4) sleep(0.1); else socket.close(); }, 200);
    socket.setTimeout(() => console.log('never'), 3000);
    for (const delay of [0, -1]) { try { socket.setTimeout(() => console.log('delay', delay), delay); console.log(delay, 'taken'); } catch (error) { console.log(delay, 'throws', error.name); } }
    for (const delay of [0]) { try { socket.setInterval(() => {}, delay); console.log(delay, 'taken'); } catch (error) { console.log(delay, 'throws', error.name); } }
  });
  console.log('over after', Math.round((Date.now() - begun) / 200) * 200, 'ticks', ticks);
}
