// An answer that is no HTTP
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const r = http.get(`${__ENV.TARGET}/garbage`);
  console.log(r.status, r.body, r.error_code, r.error);
}
