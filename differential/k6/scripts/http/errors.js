// Errors of the network: status 0, body null, error and error_code, a warning
// quick
import http from 'k6/http';
export const options = { iterations: 1 };
const t = __ENV.TARGET;
export default function () {
  for (const [name, url, more] of [['refused', 'http://127.0.0.1:1/'], ['reset', `${t}/reset`], ['hangup', `${t}/hangup`], ['timeout', `${t}/slow/2000`, { timeout: 200 }], ['unknown name', 'http://no-such-name.invalid/'], ['bad gzip', `${t}/badgzip`], ['bad coding', `${t}/badcoding`]]) {
    const r = http.get(url, more);
    console.log(name, r.status, r.body === null ? 'null' : JSON.stringify(r.body), r.error_code, r.error.replace(t, 'TARGET').replace(/read tcp \S+->\S+/, 'read tcp'), r.timings.duration > 0);
  }
}
