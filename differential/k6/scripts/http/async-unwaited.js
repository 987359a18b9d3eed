// An asyncRequest nobody waits for keeps the iteration
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  http.asyncRequest('GET', `${__ENV.TARGET}/slow/200?${__ITER}`).then((r) => console.log('came', r.status, __ITER));
  console.log('returned', __ITER);
}
