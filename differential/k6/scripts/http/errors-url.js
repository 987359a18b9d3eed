// Addresses that are none
import http from 'k6/http';
export const options = { iterations: 7 };
export default function () {
  const url = ['', 'no scheme', 'ftp://127.0.0.1/', 'http://', '/path', 'http://127.0.0.1:99999/', undefined][__ITER];
  const r = http.get(url);
  console.log(__ITER, r.status, r.error_code);
}
