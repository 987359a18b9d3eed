// The same by k6's arrival-rate executor. Users are made before the start: making them under way costs it arrivals.
import http from 'k6/http';

const users = Number(__ENV.CONNECTIONS);

export const options = {
  scenarios: {
    open: { executor: 'constant-arrival-rate', rate: Number(__ENV.RATE), timeUnit: '1s', duration: `${__ENV.SECONDS}s`, preAllocatedVUs: users, maxVUs: users },
  },
  discardResponseBodies: true,
  systemTags: [],
  summaryTrendStats: ['med', 'p(99)'],
};

const url = `${__ENV.TARGET}/after/10ms`;

export default function () {
  http.get(url);
}

export const handleSummary = ({ metrics }) => ({
  stdout: `${JSON.stringify({
    completed: metrics.http_reqs.values.count,
    failed: metrics.http_req_failed.values.passes,
    dropped: metrics.dropped_iterations?.values.count ?? 0,
    p50_ms: metrics.http_req_duration.values.med,
    p99_ms: metrics.http_req_duration.values['p(99)'],
  })}\n`,
});
