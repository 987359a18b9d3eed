// Keys in any case, numbers as texts
import http from 'k6/http';
export const options = { Iterations: '3', VUS: '1', useragent: 'lower', MAXREDIRECTS: '0' };
export default function () { console.log(http.get(`${__ENV.TARGET}/redirect/302`).status); }
