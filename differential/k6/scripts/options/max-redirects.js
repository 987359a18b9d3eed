// maxRedirects, and redirects of a request
import http from 'k6/http';
export const options = { iterations: 1, maxRedirects: 2 };
export default function () {
  const one = http.get(`${__ENV.TARGET}/redirects/3`);
  console.log(one.status, one.url.replace(__ENV.TARGET, ''), one.headers.Location);
  console.log(http.get(`${__ENV.TARGET}/redirects/3`, { redirects: 3 }).status);
  console.log(http.get(`${__ENV.TARGET}/redirects/1`, { redirects: 0 }).status);
  console.log(http.get(`${__ENV.TARGET}/nowhere`).status);
}
