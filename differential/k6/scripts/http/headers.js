// Headers: names as they are sent and as they come back, values of other types, Host and Content-Length
// quick
// mask: (Grafana k6|Sonagi)/[\d.]+
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const r = http.get(`${__ENV.TARGET}/headers`, { headers: { 'x-lower-case': 'a', 'X-MANY-CAPS': 'b', number: 7, yes: true, 'x-empty': '', host: 'other.test', accept: 'text/own', cookie: 'own=1' } });
  for (const name of Object.keys(r.headers).sort()) if (!['Date', 'Keep-Alive', 'Connection'].includes(name)) console.log(name, r.headers[name]);
  http.post(`${__ENV.TARGET}/length`, 'abc', { headers: { 'Content-Length': '5' } });
  http.post(`${__ENV.TARGET}/chunked`, 'abc', { headers: { 'Transfer-Encoding': 'chunked' } });
  console.log(json(http.get(`${__ENV.TARGET}/a`, { headers: { 'x-one': '1' } }).request.headers));
}
