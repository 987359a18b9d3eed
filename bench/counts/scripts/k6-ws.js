// Each message sent is answered with many; the first ones are what makes the next one be sent.
import ws from 'k6/ws';

export const options = { scenarios: { room: { executor: 'per-vu-iterations', vus: 1, iterations: 1 } } };

const [messages, burst] = [Number(__ENV.N), Number(__ENV.BURST)];

export default function () {
  let heard = 0;
  ws.connect('ws://simulated/', null, (socket) => {
    socket.on('message', () => {
      heard += 1;
      if (heard === messages) socket.close();
      else if (heard % burst === 0) socket.send('more');
    });
    socket.on('open', () => socket.send('more'));
  });
}
