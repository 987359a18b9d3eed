// Tags of other types than text
import http from 'k6/http';
export const options = { iterations: 5 };
export default function () { console.log(http.get(`${__ENV.TARGET}/a`, { tags: [{ n: 7, b: true }, { none: null }, { o: { a: 1 } }, { empty: '' }, null][__ITER] }).status); }
