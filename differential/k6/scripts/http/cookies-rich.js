// Cookies with attributes: what a response tells, what is sent back where
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const r = http.get(`${__ENV.TARGET}/cookies/rich`);
  for (const name of Object.keys(r.cookies).sort()) console.log(name, JSON.stringify(r.cookies[name]));
  for (const path of ['/', '/below/this', '/cookies/there']) console.log(path, http.get(`${__ENV.TARGET}${path}`).json('cookie'));
}
