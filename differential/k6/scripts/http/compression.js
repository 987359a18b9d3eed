// Packed responses are unpacked, asked for or not
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  for (const coding of ['gzip', 'deflate', 'br']) {
    const r = http.get(`${__ENV.TARGET}/${coding}`, { headers: { 'Accept-Encoding': coding } });
    console.log(coding, r.json('name'), r.headers['Content-Encoding'], r.headers['Content-Length'] === undefined);
    console.log(http.get(`${__ENV.TARGET}/${coding}`).json('name'));
  }
}
