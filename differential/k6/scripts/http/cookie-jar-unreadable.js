// cookiesForURL() of an address that cannot be read
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  try { console.log(http.cookieJar().cookiesForURL('127.0.0.1:8080/x')); } catch (error) { console.log('throws', error.name); }
}
