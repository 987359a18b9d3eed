// throw: a failed request throws; a request may say otherwise
import http from 'k6/http';
export const options = { iterations: 1, throw: true };
export default function () {
  try { http.get('http://127.0.0.1:1/'); } catch (error) { console.log('throws', error instanceof Error, error.name); }
  console.log(http.get('http://127.0.0.1:1/', { throw: false }).error_code);
  console.log(http.get(`${__ENV.TARGET}/status/500`).status);
  http.get('http://127.0.0.1:1/');
  console.log('never');
}
