// http.url and the tags name and url
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  const url = http.url`${t}/posts/${7}/of/${'a b'}`;
  console.log(url.name, url.url.replace(t, ''), url.clean_url.replace(t, ''));
  http.get(url);
  http.get(http.url`${t}/${1}`, { tags: { name: 'own name' } });
  http.get(`${t}/a?b=c#d`, { tags: { url: 'own url' } });
  http.get(`${t}/d`, { tags: { method: 'own', status: 'own' } });
  http.batch([http.url`${t}/batch/${1}`]);
}
