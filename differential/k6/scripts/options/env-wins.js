// K6_* wins over the script and loses to flags
// env: K6_ITERATIONS=3 K6_VUS=2 K6_USER_AGENT=env
// flags: --user-agent flag
import http from 'k6/http';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 7, iterations: 7 } }, userAgent: 'script', vus: 1 };
export default function () { if (__VU === 1 && __ITER === 0) http.get(`${__ENV.TARGET}/`); console.log('iteration'); }
