// --config FILE: the script wins over it
// flags: --config _files/config.json
import http from 'k6/http';
export const options = { userAgent: 'script' };
export default function () { http.get(`${__ENV.TARGET}/`); console.log('iteration'); }
