// batchPerHost: no more connections than that
// mask: (?<=slow/60\?)[abcd]
// order: connections
import http from 'k6/http';
export const options = { iterations: 1, batchPerHost: 2 };
export default function () { http.batch(['a', 'b', 'c', 'd'].map((name) => `${__ENV.TARGET}/slow/60?${name}`)); }
