// responseType: text, binary, none; bodies that are no UTF-8
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  console.log(typeof http.get(`${t}/text`).body, http.get(`${t}/unicode`).body, http.get(`${t}/unicode`).body.length);
  const bytes = http.get(`${t}/bytes`, { responseType: 'binary' }).body;
  console.log(bytes instanceof ArrayBuffer, new Uint8Array(bytes).join());
  console.log(http.get(`${t}/text`, { responseType: 'none' }).body);
  console.log(JSON.stringify(http.get(`${t}/latin`).body), http.get(`${t}/latin`).body.length);
  console.log(http.get(`${t}/empty`).body === '', JSON.stringify(http.get(`${t}/status/204`).body), http.get(`${t}/chunked`).body);
  try { http.get(`${t}/text`, { responseType: 'json' }); console.log('works'); } catch (error) { console.log('throws', error.name); }
}
