// K6_* wins over the script and loses to flags
// env: K6_ITERATIONS=3 K6_VUS=2 K6_USER_AGENT=env
// flags: --user-agent flag
import http from 'k6/http';
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 7, iterations: 7 } }, userAgent: 'script', vus: 1 };
export default function () { if (exec.scenario.iterationInTest === 0) http.get(`${__ENV.TARGET}/`); console.log('iteration'); }
