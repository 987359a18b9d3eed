// An answer that breaks off, and one that begins in time and ends too late
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  for (const [name, path] of [['broken off', '/truncated'], ['late', '/drip/600']]) {
    const r = http.get(`${__ENV.TARGET}${path}`, { timeout: 200 });
    console.log(name, r.status, r.error_code, r.error);
  }
}
