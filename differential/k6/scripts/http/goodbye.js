// Connection: close of the target: the next request has another connection
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () { http.get(`${__ENV.TARGET}/goodbye`); http.get(`${__ENV.TARGET}/after`); }
