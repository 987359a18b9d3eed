// rps holds all users together
import http from 'k6/http';
export const options = { iterations: 5, rps: 5 };
let first;
export default function () {
  http.get(`${__ENV.TARGET}/${__ITER}`);
  first ??= Date.now();
  if (__ITER === 4) console.log(Date.now() - first >= 700);
}
