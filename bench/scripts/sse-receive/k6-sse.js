// The streams by k6 with the extension xk6-sse. A user is held by its stream, which no server ends: the run's end does. Events are
// counted by the extension itself, whatever a script does; handlers of ours would only cost more.
import sse from 'k6/x/sse';
import { sleep } from 'k6';

const users = Number(__ENV.USERS);

export const options = {
  scenarios: { stream: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: `${1 + Number(__ENV.STAY)}s`, gracefulStop: '0s' } },
  systemTags: [],
};

export default function () {
  sleep((__VU - 1) / users);
  sse.open(__ENV.TARGET + __ENV.ROUTE, null, () => {});
}

export const handleSummary = (data) => ({ stdout: `${JSON.stringify({ events: data.metrics.sse_event?.values.count ?? 0 })}\n` });
