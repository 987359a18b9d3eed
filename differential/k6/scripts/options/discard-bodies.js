// discardResponseBodies, and responseType of a request
import http from 'k6/http';
export const options = { iterations: 1, discardResponseBodies: true };
export default function () {
  const none = http.get(`${__ENV.TARGET}/text`);
  console.log(none.status, none.body, typeof none.body);
  console.log(http.get(`${__ENV.TARGET}/text`, { responseType: 'text' }).body);
  console.log(new Uint8Array(http.get(`${__ENV.TARGET}/bytes`, { responseType: 'binary' }).body).join());
  try { none.json(); } catch (error) { console.log('json throws', error.name); }
  console.log(typeof http.get(`${__ENV.TARGET}/html`).html, http.get(`${__ENV.TARGET}/gzip`).body);
}
