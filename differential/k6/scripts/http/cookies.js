// Cookies: the jar of the iteration, what a response set, what a request gives
// quick
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  const t = __ENV.TARGET;
  console.log(http.get(`${t}/cookies/here`).json('cookie'));
  const set = http.get(`${t}/cookies/set?a=1&b=2`);
  console.log(Object.keys(set.cookies).sort().join(), JSON.stringify(set.cookies.a[0]));
  console.log(http.get(`${t}/cookies/here`).json('cookie'));
  console.log(http.get(`${t}/cookies/here`, { cookies: { a: 'given' } }).json('cookie'));
  console.log(http.get(`${t}/cookies/here`, { cookies: { a: { value: 'replaced', replace: true } } }).json('cookie'));
  console.log(http.get(`${t}/cookies/here`, { headers: { Cookie: 'h=1' } }).json('cookie'));
  console.log(http.get(`${t}/elsewhere`).json('cookie'), http.get(`${t}/cookies/below/this`).json('cookie'));
  console.log(json(http.get(`${t}/cookies/here`).request.cookies));
}
