// auth: basic and digest, by params and in the address
// target: httpbin
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const h = __ENV.HTTPBIN;
  const given = h.replace('http://', 'http://user:passwd@');
  console.log(http.get(`${given}/basic-auth/user/passwd`).status, http.get(`${given}/basic-auth/user/passwd`, { auth: 'basic' }).status, http.get(`${h}/basic-auth/user/passwd`).status);
  console.log(http.get(`${given}/digest-auth/auth/user/passwd`, { auth: 'digest' }).status, http.get(`${h}/digest-auth/auth/user/passwd`).status);
  console.log(http.get(`${given}/basic-auth/user/other`, { auth: 'basic' }).status);
  console.log(http.get(`${given}/headers`).request.url.includes('passwd'), http.get(`${given}/get`).url.includes('passwd'));
}
