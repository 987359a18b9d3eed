// noVUConnectionReuse: connections last for an iteration
// quick
import http from 'k6/http';
export const options = { iterations: 2, noVUConnectionReuse: true };
export default function () { for (const path of ['a', 'b']) http.get(`${__ENV.TARGET}/${__ITER}/${path}`); }
