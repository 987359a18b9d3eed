// More redirects than there may be: the last response, and a warning
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () { const r = http.get(`${__ENV.TARGET}/redirects/12`); console.log(r.status, r.error_code, r.url.replace(__ENV.TARGET, '')); }
