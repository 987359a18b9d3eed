// Connections outlive iterations; each user has its own
// order: connections
import http from 'k6/http';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
export default function () { for (const path of ['a', 'b']) http.get(`${__ENV.TARGET}/${__VU}/${__ITER}/${path}`); }
