// Addresses that a cookie jar knows nothing of, and addresses that are none
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 1 };
const ADDRESSES = ['127.0.0.1', 'a.test/x', '/only/a/path', '', '//a.test/x', '?q', '#f', 'ftp://a.test/', 'ws://a.test/', 'wss://a.test/', 'file:///x', 'mailto:a@b', 'HTTP://A.test/', 'https://a.test', 'http://u:p@a.test/', 'http://a.test:81/', 'http://[::1]/x', '127.0.0.1:8080/x', 'a.test:80', 'localhost:80/x', ':80/x', '1:2', 'a b:c', 'http://a.test/%zz', 'http://a.test/?q=%zz', 'http://a b.test/', 'http://a.test:x/', 'http://[::1/', undefined, null, 7];
const tried = (call) => {
  try { return json(call()); } catch (error) { return `throws ${error.name} ${error.message}`; }
};
export default function () {
  for (const address of ADDRESSES) {
    const jar = new http.CookieJar();
    const readable = tried(() => jar.set(address, 'name', 'value'));
    console.log(String(address), readable, tried(() => jar.delete(address, 'none')), tried(() => jar.clear(address, {})));
    // Of what cannot be read k6 itself ends (http/cookie-jar-unreadable).
    if (readable === 'true') jar.set(address, 'name', 'value');
    if (readable === 'true') console.log(json(jar.cookiesForURL(address)));
  }
  const jar = http.cookieJar();
  const t = __ENV.TARGET;
  console.log(jar.set(t, 'one', '1'), jar.set(t, 'two', '2'), jar.delete(t, 'one'), jar.delete(t, 'none'), json(jar.cookiesForURL(t)), jar.clear(t), json(jar.cookiesForURL(t)));
  jar.set(t, 'cased', '1', { Path: '/p', MAX_AGE: '600', Secure: 0 });
  jar.set(t, 'number', 5);
  jar.set(t, 'object', { a: 1 });
  jar.set(t, 'empty', '', {});
  jar.set(t, 'nothing', 'x', null);
  console.log(json(jar.cookiesForURL(t)), json(jar.cookiesForURL(`${t}/p`)));
  const { set, cookiesForURL } = jar;
  console.log(tried(() => set(t, 'free', '1')), tried(() => Object.keys(cookiesForURL(t)).sort()));
}
