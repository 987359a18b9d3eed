// hosts: names that lead elsewhere, with ports, with stars
import http from 'k6/http';
const [host, port] = __ENV.TARGET_HOST.split(':');
export const options = { iterations: 1, hosts: { 'one.test': host, 'two.test:80': __ENV.TARGET_HOST, '*.stars.test': __ENV.TARGET_HOST } };
export default function () {
  console.log(http.get(`http://one.test:${port}/a`).status, http.get('http://two.test/b').status, http.get('http://any.stars.test/c').status);
}
