// Long polling by k6: each user asks, is answered when there is something new, and asks again behind the cursor of the answer.
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

/** A cursor is `STORE.NUMBER`. */
const number = (cursor) => Number(cursor.slice(cursor.lastIndexOf('.') + 1));

export default function () {
  sleep((__VU - 1) / users);
  const until = Date.now() + Number(__ENV.STAY) * 1000;
  const first = http.get(url).json('next');
  let next = first;
  while (Date.now() < until) {
    const answer = http.get(`${url}?after=${next}`);
    if (answer.status === 200) next = answer.json('next');
  }
  received.add(number(next) - number(first));
}

export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ received: data.metrics.received?.values.count ?? 0 })}\n` });
