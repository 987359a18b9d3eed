// TLS and HTTP/2: protocol, version, tags; one connection
import http from 'k6/http';
export const options = { iterations: 2, insecureSkipTLSVerify: true };
export default function () {
  const r = http.get(`${__ENV.TLS}/person`);
  console.log(r.proto, r.tls_version, r.tls_cipher_suite.length > 0, r.ocsp.status, r.timings.tls_handshaking > 0, r.timings.connecting > 0, r.headers['Content-Type']);
  console.log(http.post(`${__ENV.TLS}/post`, { a: 1 }).json('body'));
}
