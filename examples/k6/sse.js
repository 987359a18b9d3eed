// Event streams that are listened to while others share: `sonagi serve`, then `sonagi run sse.js`.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import sse from 'k6/x/sse';

const base = __ENV.SERVE || 'http://127.0.0.1:8080';
const group = __ENV.GROUP || '7';
const heard = new Counter('heard');

export const options = {
  scenarios: {
    listening: { executor: 'per-vu-iterations', vus: 5, iterations: 1, exec: 'listen' },
    sharing: { executor: 'constant-arrival-rate', rate: 5, duration: '2s', preAllocatedVUs: 2, startTime: '1s', exec: 'share' },
  },
  thresholds: { checks: ['rate==1'], heard: ['count>=40'] },
};

export function listen() {
  let left = 9;
  const response = sse.open(`${base}/location/sse/connect?group=${group}`, { tags: { name: 'stream' } }, (client) => {
    client.on('event', ({ id, data }) => {
      // What has no data says that the stream is alive, or where it begins.
      if (data === '') return;
      heard.add(1);
      check(JSON.parse(data), { 'the id is its number': ({ seq }) => String(seq) === id });
      left -= 1;
      if (left === 0) client.close();
    });
    client.on('error', (error) => console.error(error.error()));
  });
  check(response, { 'status is 200': (r) => r.status === 200 });
}

export function share() {
  const text = JSON.stringify({ from: exec.vu.idInTest });
  check(http.post(`${base}/location/sse/share?group=${group}`, text), { shared: (r) => r.status === 200 });
}
