// Polling by k6: each user asks once a second, behind the cursor of the answer before.
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const users = Number(__ENV.USERS);
const url = __ENV.TARGET + __ENV.ROUTE;
const received = new Counter('received');

export const options = {
  scenarios: { poll: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: '60s' } },
  systemTags: [],
};

export default function () {
  sleep((__VU - 1) / users);
  const first = http.get(url).json('next');
  let next = first;
  for (let round = 0; round < Number(__ENV.ROUNDS); round += 1) {
    sleep(1);
    next = http.get(`${url}?after=${next}`).json('next');
  }
  received.add(next - first);
}

export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ received: data.metrics.received?.values.count ?? 0 })}\n` });
