// Statuses and http_req_failed: 200–399 are expected
// quick
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  for (const status of [200, 201, 204, 226, 304, 400, 401, 404, 418, 429, 500, 503, 599]) {
    const r = http.get(`${__ENV.TARGET}/status/${status}`);
    console.log(r.status, r.status_text, r.error, r.error_code, r.body === null ? 'null' : typeof r.body);
  }
  console.log(http.get(`${__ENV.TARGET}/reason`).status_text);
}
