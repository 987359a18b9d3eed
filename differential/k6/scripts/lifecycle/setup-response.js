// Responses that setup returns, alone and within: what the users see of them
// without summary setup_data: ports and times
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 1 };
export function setup() {
  const t = __ENV.TARGET;
  const changed = http.get(`${t}/text`);
  changed.status = 299;
  return {
    whole: http.post(`${t}/person`, { a: 'b' }, { cookies: { mine: 'x' } }),
    cookies: http.get(`${t}/cookies/rich`),
    list: [http.get(`${t}/text`), http.get(`${t}/empty`)],
    batch: http.batch([`${t}/text`, ['GET', `${t}/unicode`]]),
    named: http.batch({ one: `${t}/text` }),
    binary: http.get(`${t}/bytes`, { responseType: 'binary' }),
    none: http.get(`${t}/text`, { responseType: 'none' }),
    failed: http.get('http://127.0.0.1:1/'),
    cookie: http.get(`${t}/cookies/set?a=1`).cookies.a[0],
    all: http.get(`${t}/cookies/set?a=1`).cookies,
    request: http.get(`${t}/text`, { cookies: { mine: 'x' } }).request.cookies,
    changed,
  };
}
const shown = (r) => json({ ...r, timings: Object.keys(r.timings).sort().join(), remote_port: typeof r.remote_port, request: { ...r.request, headers: Object.keys(r.request.headers).sort() } });
export default function (data) {
  console.log(Object.keys(data).sort().join());
  console.log(Object.keys(data.whole).sort().join(), typeof data.whole.json, typeof data.whole.html, typeof data.whole.toJSON);
  for (const name of ['whole', 'cookies', 'binary', 'none', 'failed', 'changed']) console.log(name, shown(data[name]));
  for (const r of [...data.list, ...(Array.isArray(data.batch) ? data.batch : Object.values(data.batch)), data.named.one]) console.log(shown(r));
  console.log(Array.isArray(data.batch), Object.keys(data.cookies.cookies.all[0]).sort().join(), json(data.cookie), json(data.all), json(data.request));
  console.log(JSON.parse(data.whole.body).name, data.whole.headers['Content-Type']);
}
