// The flood by k6/websockets, counted as in k6-ws.js.
import { Counter } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';

const url = `${__ENV.TARGET.replace('http', 'ws')}/ws/flood?bytes=86&batch=64`;
const received = new Counter('received');

export const options = { vus: 1, iterations: 1, systemTags: [] };

export default function () {
  let heard = 0;
  const socket = new WebSocket(url);
  socket.onmessage = () => {
    heard += 1;
  };
  socket.onopen = () => setTimeout(() => socket.close(), Number(__ENV.SECONDS) * 1000);
  socket.onclose = () => received.add(heard);
}

export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ received: data.metrics.received.values.count })}\n` });
