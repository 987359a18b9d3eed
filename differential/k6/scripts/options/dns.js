// dns: its members in any case, and as a flag
// flags: --dns ttl=0,select=first,policy=onlyIPv4
import http from 'k6/http';
import exec from 'k6/execution';
export const options = { iterations: 1, DNS: { ttl: '1m', select: 'random', policy: 'any' } };
export default function () {
  console.log(http.get(__ENV.TARGET.replace('127.0.0.1', 'localhost')).status);
  console.log(Object.entries(exec.test.options.dns).sort().map(([name, value]) => `${name}=${value}`).join());
}
