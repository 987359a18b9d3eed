// Blanks and non-ASCII in the query of an address
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  http.get(`${__ENV.TARGET}/`);
  console.log(http.get(`${__ENV.TARGET}/a?q=ü&x=a b`).status);
}
