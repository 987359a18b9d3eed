// httpbin: basic, digest and bearer
// target: httpbin
import http from 'k6/http';
import { check } from 'k6';
import encoding from 'k6/encoding';
export const options = { iterations: 1 };
export default function () {
  const h = __ENV.HTTPBIN;
  const given = h.replace('http://', 'http://user:passwd@');
  check(http.get(`${h}/basic-auth/user/passwd`, { headers: { Authorization: `Basic ${encoding.b64encode('user:passwd')}` } }), { 'by a header': (r) => r.status === 200 });
  check(http.get(`${given}/digest-auth/auth/user/passwd/MD5`, { auth: 'digest' }), { 'digest MD5': (r) => r.status === 200 && r.json('authorized') });
  check(http.get(`${h}/bearer`, { headers: { Authorization: 'Bearer token' } }), { bearer: (r) => r.json('token') === 'token' });
}
