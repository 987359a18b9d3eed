// httpbin: digest with SHA-256
// target: httpbin
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const given = __ENV.HTTPBIN.replace('http://', 'http://user:passwd@');
  console.log(http.get(`${given}/digest-auth/auth/user/passwd/SHA-256`, { auth: 'digest' }).status);
}
