// The flood by k6/ws. It counts messages itself; the handler is there because a user without one tests nothing.
import ws from 'k6/ws';
import { Counter } from 'k6/metrics';

const url = `${__ENV.TARGET.replace('http', 'ws')}/ws/flood?bytes=86&batch=64`;
const received = new Counter('received');

export const options = { vus: 1, iterations: 1, systemTags: [] };

export default function () {
  let heard = 0;
  ws.connect(url, null, (socket) => {
    socket.on('message', () => {
      heard += 1;
    });
    socket.on('open', () => socket.setTimeout(() => socket.close(), Number(__ENV.SECONDS) * 1000));
  });
  received.add(heard);
}

export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ received: data.metrics.received.values.count })}\n` });
