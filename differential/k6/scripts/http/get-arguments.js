// More arguments than http.get and http.head take
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const url = `${__ENV.TARGET}/person`;
  console.log(http.get(url, {}, {}).status, http.head(url, null, {}, 4).status, http.get(url, {}).status, http.options(url, null, {}, 4).status);
}
