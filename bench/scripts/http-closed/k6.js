// The closed loop by k6, as light as it gets: bodies discarded, no system tags, no checks; the metrics of its core only.
import http from 'k6/http';

export const options = {
  vus: Number(__ENV.USERS),
  duration: `${__ENV.SECONDS}s`,
  discardResponseBodies: true,
  systemTags: [],
  summaryTrendStats: ['med', 'p(99)'],
};

const rooms = `${__ENV.TARGET}/rooms`;
const messages = `${__ENV.TARGET}/messages`;

export default function () {
  http.get(rooms);
  http.get(messages);
}

export const handleSummary = ({ metrics: { http_reqs, http_req_duration, http_req_failed } }) => ({
  stdout: `${JSON.stringify({
    requests: http_reqs.values.count,
    failed: http_req_failed.values.passes,
    p50_ms: http_req_duration.values.med,
    p99_ms: http_req_duration.values['p(99)'],
  })}\n`,
});
