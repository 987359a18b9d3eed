// timeout as a number and as text
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  for (const timeout of [150, '150ms', 5000, '5s', 0]) { const r = http.get(`${__ENV.TARGET}/slow/500`, { timeout }); console.log(timeout, r.status, r.error_code, r.timings.duration >= 140); }
}
