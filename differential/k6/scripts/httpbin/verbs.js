// httpbin: what it says of what it was sent
// quick
// target: httpbin
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const h = __ENV.HTTPBIN;
  const told = (r) => { const { args, form, data, json, method } = r.json(); console.log(r.status, method, JSON.stringify(args), JSON.stringify(form), data, JSON.stringify(json)); };
  told(http.get(`${h}/get?a=1&b=x%20y&b=z`));
  told(http.post(`${h}/post`, { a: 'b', c: ['d', 'e'] }));
  told(http.put(`${h}/put`, JSON.stringify({ deep: [1, { x: null }] }), { headers: { 'Content-Type': 'application/json' } }));
  told(http.patch(`${h}/patch`, 'plain words', { headers: { 'Content-Type': 'text/plain' } }));
  told(http.del(`${h}/delete`));
  const file = http.post(`${h}/post`, { upload: http.file('of the file', 'a.txt', 'text/plain'), field: '1' }).json();
  console.log(JSON.stringify(file.files), JSON.stringify(file.form));
}
