// Which samples there are of a request without an answer
import http from 'k6/http';
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () { check(http.get(`${__ENV.TARGET}/hangup`), { 'status is 200': (r) => r.status === 200 }); }
