// --local-ips: users call from those addresses
// flags: --local-ips 127.0.0.7-127.0.0.8
// order: connections
import http from 'k6/http';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
export default function () { console.log(http.get(`${__ENV.TARGET}/from`).json('from')); }
