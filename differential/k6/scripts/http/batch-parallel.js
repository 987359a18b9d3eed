// http.batch runs beside each other, and one user keeps what it may at once
// order: any
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const begun = Date.now();
  http.batch(['a', 'b', 'c', 'd'].map((name) => `${__ENV.TARGET}/slow/700?${name}`));
  console.log(Date.now() - begun < 2400);
}
