// A certificate nobody knows, a plain answer to TLS
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const r = http.get(`${__ENV.TLS}/`);
  console.log(r.status, r.error_code);
  const plain = http.get(__ENV.TARGET.replace('http:', 'https:'));
  console.log(plain.status, plain.error_code);
}
