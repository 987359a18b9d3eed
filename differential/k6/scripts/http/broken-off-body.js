// The body of an answer that breaks off
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  console.log(http.get(`${__ENV.TARGET}/truncated`).body);
}
