// A compression that is not known
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () { console.log(http.post(`${__ENV.TARGET}/x`, 'a', { compression: 'rot13' }).status); }
