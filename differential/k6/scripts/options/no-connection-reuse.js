// noConnectionReuse: a connection for each request
import http from 'k6/http';
export const options = { iterations: 1, noConnectionReuse: true };
export default function () { for (const path of ['a', 'b', 'c']) http.get(`${__ENV.TARGET}/${path}`); }
