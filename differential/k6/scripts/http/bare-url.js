// Paths and non-ASCII in addresses as they are sent
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  for (const path of ['', '/', '/a b', '/ä', '/%C3%A4', '/a?', '/a//b/../c', '/a#f', '/a?b#f', '/[x]', "/quo'te\"s", '/{x}']) console.log(path, http.get(`${__ENV.TARGET}${path}`).status);
}
