// --http-debug tells requests and responses
// flags: --http-debug
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () { http.get(`${__ENV.TARGET}/person`); }
