// batch: no more requests at once than that, whatever the host
// order: any
import http from 'k6/http';
export const options = { iterations: 1, batch: 1 };
export default function () {
  const begun = Date.now();
  http.batch(['a', 'b', 'c'].map((name) => `${__ENV.TARGET}/slow/300?${name}`));
  console.log(Date.now() - begun > 850);
}
