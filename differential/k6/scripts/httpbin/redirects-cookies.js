// httpbin: redirects, absolute and relative, and cookies on the way
// target: httpbin
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  const h = __ENV.HTTPBIN;
  console.log(http.get(`${h}/redirect/3`).url.replace(h, ''), http.get(`${h}/absolute-redirect/2`).status, http.get(`${h}/relative-redirect/2`).status, http.get(`${h}/redirect/20`).status);
  console.log(json(http.get(`${h}/cookies/set?k=v&l=w`).json()));
  console.log(json(http.get(`${h}/cookies/delete?k`).json()), json(http.get(`${h}/cookies`).json()));
  console.log(http.get(`${h}/redirect-to?url=/get&status_code=307`).status, http.post(`${h}/redirect-to?url=/post&status_code=307`, { a: 1 }).json('form.a').join());
}
