// head, post, put, patch, del, options, request: with and without a body
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  console.log(http.head(`${t}/head`).body, http.head(`${t}/head`).status);
  for (const [name, call] of Object.entries({ post: http.post, put: http.put, patch: http.patch, del: http.del, options: http.options })) {
    console.log(name, call(`${t}/${name}/none`).json('method'));
    console.log(name, call(`${t}/${name}/text`, 'words').json('body'));
    console.log(name, call(`${t}/${name}/null`, null, { headers: { 'x-a': '1' } }).json('body'));
    console.log(name, call(`${t}/${name}/empty`, '').json('body'));
  }
  console.log(http.request('REPORT', `${t}/own`, 'b').json('method'), http.request('get', `${t}/lower`).json('method'), http.request('GET', `${t}/with-body`, 'body of a get').json('body'));
}
