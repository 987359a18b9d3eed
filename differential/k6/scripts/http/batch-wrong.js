// What http.batch refuses
import http from 'k6/http';
export const options = { iterations: 5 };
export default function () { console.log(JSON.stringify(http.batch([undefined, 7, [{}], [['GET']], [7]][__ITER]).length)); }
