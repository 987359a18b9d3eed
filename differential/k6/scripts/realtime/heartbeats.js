// A heartbeat by setInterval beside a k6/websockets connection, and a round trip measured by the script
// without summary trip: a time the script measures
// without points trip: a time the script measures
// mask: "body":"\d{13}"
import { WebSocket } from 'k6/websockets';
import { Trend } from 'k6/metrics';
const trip = new Trend('trip', true);
export const options = { iterations: 1, thresholds: { trip: ['max<2000'] } };
export default function () {
  const socket = new WebSocket(`${__ENV.TARGET_WS}/echo`);
  let beats = 0;
  socket.onopen = () => { const ticking = setInterval(() => { socket.send(String(Date.now())); beats += 1; if (beats === 4) { clearInterval(ticking); setTimeout(() => socket.close(), 200); } }, 100); };
  socket.onmessage = ({ data }) => trip.add(Date.now() - Number(data));
  socket.onclose = () => console.log('beats', beats);
}
