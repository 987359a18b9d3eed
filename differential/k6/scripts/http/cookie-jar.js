// CookieJar: set, cookiesForURL, delete, clear, a jar of one's own
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  const jar = http.cookieJar();
  jar.set(t, 'mine', 'value', { path: '/p', max_age: 600, secure: false, http_only: true });
  jar.set(t, 'plain', 'x');
  console.log(json(jar.cookiesForURL(t)), json(jar.cookiesForURL(`${t}/p/q`)));
  console.log(http.get(`${t}/p`).json('cookie'), http.get(`${t}/q`).json('cookie'));
  jar.delete(t, 'plain');
  console.log(json(jar.cookiesForURL(t)));
  jar.set(t, 'gone', '1', { expires: 'Thu, 01 Jan 1970 00:00:00 GMT' });
  console.log(json(jar.cookiesForURL(t)));
  jar.set(t, 'again', '1'); jar.clear(t);
  console.log(json(jar.cookiesForURL(t)));
  const own = new http.CookieJar();
  own.set(t, 'own', '1');
  console.log(http.get(`${t}/own`, { jar: own }).json('cookie'), http.get(`${t}/default`).json('cookie'), http.get(`${t}/none`, { jar: null }).json('cookie'));
  console.log(json(jar.cookiesForURL('http://other.test/')));
  try { jar.set(t, 'x', 'y', { expires: 'not a date' }); console.log('works'); } catch (error) { console.log('throws', error.name); }
}
