// httpbin: what it says of what it was sent
// quick
// target: httpbin
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const h = __ENV.HTTPBIN;
  const tell = (r) => { const told = r.json(); console.log(r.status, told.method, json(told.args), json(told.form), told.data, json(told.json)); };
  tell(http.get(`${h}/get?a=1&b=x%20y&b=z`));
  tell(http.post(`${h}/post`, { a: 'b', c: ['d', 'e'] }));
  tell(http.put(`${h}/put`, JSON.stringify({ deep: [1, { x: null }] }), { headers: { 'Content-Type': 'application/json' } }));
  tell(http.patch(`${h}/patch`, 'plain words', { headers: { 'Content-Type': 'text/plain' } }));
  tell(http.del(`${h}/delete`));
  const file = http.post(`${h}/post`, { upload: http.file('of the file', 'a.txt', 'text/plain'), field: '1' }).json();
  console.log(json(file.files), json(file.form));
}
