// Checks in nested groups: names, paths, counts
// quick
import { check, group, sleep } from 'k6';
import http from 'k6/http';
import ws from 'k6/ws';
import { Counter } from 'k6/metrics';
const c = new Counter('mine');
export const options = { iterations: 3, thresholds: { mine: ['count>1'], checks: ['rate>0.5'] } };
export default function () {
  group('g', () => check(1, { one: (v) => v === 1, two: (v) => v === 2 }));
  c.add(1, { x: 'y' });
  const res = http.get(`${__ENV.TARGET}/person?a=b`, { headers: { 'x-a': 'b' } });
  console.log(res.status, res.json('nested.deep.1.v'));
  ws.connect(`${__ENV.TARGET_WS}/echo`, {}, (socket) => { socket.on('open', () => socket.send('hi')); socket.on('message', (m) => { console.log(m); socket.close(); }); });
  if (__ITER == 1) throw new Error('boom');
  if (__ITER == 2) new Promise((_, r) => r(new Error('later')));
}
