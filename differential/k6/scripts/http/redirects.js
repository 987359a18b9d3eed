// Redirects by status: method, body, headers, cookies; a sample for each hop
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  for (const status of [301, 302, 303, 307, 308]) {
    const r = http.post(`${t}/redirect/${status}?to=/landed/${status}`, { a: 1 }, { headers: { 'x-own': '1', authorization: 'secret' }, tags: { name: `post ${status}` } });
    console.log(status, r.status, r.json('method'), r.json('body'), r.url.replace(t, ''), r.request.method, r.request.url.replace(t, ''));
  }
  const away = http.get(`${t}/redirect/302?to=${encodeURIComponent(t.replace('127.0.0.1', 'localhost') + '/elsewhere')}`, { headers: { authorization: 'secret' } });
  console.log(away.status, away.url.replace(/:\d+/, ''));
  console.log(http.get(`${t}/redirects/2`).json('cookie'));
  console.log(http.get(`${t}/redirect/302?to=/landed`, { redirects: 0 }).headers.Location, http.get(`${t}/redirect/302?to=relative`).url.replace(t, ''));
  console.log(http.head(`${t}/redirect/302`).request.method);
}
