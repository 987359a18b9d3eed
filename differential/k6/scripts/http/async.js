// http.asyncRequest: promises, beside each other
// order: any
import http from 'k6/http';
export const options = { iterations: 1 };
export default async function () {
  const t = __ENV.TARGET;
  const begun = Date.now();
  const all = await Promise.all(['a', 'b', 'c'].map((name) => http.asyncRequest('GET', `${t}/slow/700?${name}`)));
  console.log(all.map((r) => r.status).join(), Date.now() - begun < 1900);
  const post = await http.asyncRequest('POST', `${t}/post`, { a: 1 }, { headers: { 'x-a': '1' } });
  console.log(post.json('body'), (await http.asyncRequest('GET', 'http://127.0.0.1:1/')).error_code);
}
