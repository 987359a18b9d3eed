// The text at the end, with everything a test can have
// quick
import http from 'k6/http';
import ws from 'k6/ws';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('counter'), gauge = new Gauge('gauge'), rate = new Rate('rate'), trend = new Trend('trend'), timed = new Trend('timed', true);
export const options = { iterations: 2, thresholds: { 'http_req_duration{status:200}': ['max<9999', 'min<0'], trend: ['avg<99'], rate: [{ threshold: 'rate>0.9' }], 'counter{tag:a}': ['count==2'] } };
export default function () {
  check(http.get(`${__ENV.TARGET}/`), { 'all well': true });
  http.get(`${__ENV.TARGET}/status/500`);
  group('a group', () => check(1, { 'in a group': __ITER === 0, 'all well': true }));
  counter.add(1, { tag: 'a' }); gauge.add(3.5); rate.add(__ITER); trend.add(12.345); timed.add(1234);
  ws.connect(`${__ENV.TARGET_WS}/echo`, (socket) => { socket.on('open', () => socket.close()); });
}
