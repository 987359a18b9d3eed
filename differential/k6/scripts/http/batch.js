// http.batch: lists and objects, in all their forms
// quick
// order: any
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  const list = http.batch([['GET', `${t}/a`], ['POST', `${t}/b`, 'body', { tags: { name: 'b' } }], { method: 'PUT', url: `${t}/c`, body: { x: 1 }, params: { headers: { 'x-a': '1' } } }, `${t}/d`, { url: `${t}/e` }, ['GET', `${t}/f`, null, { responseType: 'none' }]]);
  console.log(Array.isArray(list), list.map((r) => `${r.request.method} ${r.status} ${r.body === null}`).join(', '));
  const named = http.batch({ one: `${t}/one`, two: ['DELETE', `${t}/two`] });
  console.log(Object.keys(named).sort().join(), named.two.json('method'));
  const mixed = http.batch([`${t}/good`, 'http://127.0.0.1:1/']);
  console.log(mixed[0].status, mixed[1].status, mixed[1].error_code);
  console.log(http.batch([]).length);
}
