// http.get: all that a response has
// quick
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const r = http.get(`${__ENV.TARGET}/person?a=1&b=%20#part`);
  console.log(Object.keys(r).sort().join(' '));
  console.log(r.status, r.status_text, r.proto, r.url.replace(__ENV.TARGET, ''), r.remote_ip, typeof r.remote_port, r.error === '', r.error_code, r.body.length);
  console.log(Object.keys(r.timings).sort().join(' '), typeof r.timings.duration, r.timings.duration > 0, Math.abs(r.timings.duration - r.timings.sending - r.timings.waiting - r.timings.receiving) < 1e-6);
  console.log(Object.keys(r.headers).sort().join(' '), r.headers['Content-Type']);
  console.log(Object.keys(r.request).sort().join(' '), r.request.method, JSON.stringify(r.request.headers['User-Agent'] && Object.keys(r.request.headers)), r.request.body === '', typeof r.request.body);
  console.log(JSON.stringify(r.cookies), r.tls_version === '', r.tls_cipher_suite === '', JSON.stringify(r.ocsp));
  console.log(JSON.stringify(r.timings).includes('duration'), r instanceof Object, typeof r.json, typeof r.html, typeof r.submitForm, typeof r.clickLink);
}
