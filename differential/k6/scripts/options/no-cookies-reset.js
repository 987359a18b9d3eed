// noCookiesReset: the jar outlives the iteration
import http from 'k6/http';
export const options = { iterations: 2, noCookiesReset: true };
export default function () { if (__ITER === 0) http.get(`${__ENV.TARGET}/cookies/set?a=1`); console.log(http.get(`${__ENV.TARGET}/cookies/here`).json('cookie')); }
