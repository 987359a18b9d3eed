// Redirects to what is written unusually, and to nowhere
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  for (const to of ['landed', '/a b', '/ä', '../up', '?q=1', `//${__ENV.TARGET_HOST}/p`, 'http://', 'ftp://x/']) {
    const r = http.get(`${t}/redirect/302?to=${encodeURIComponent(to)}`);
    console.log(to.replace(__ENV.TARGET_HOST, 'HOST'), r.status, r.url.replace(t, ''), r.error, r.error_code);
  }
}
