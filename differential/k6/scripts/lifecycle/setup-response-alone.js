// A response is all that setup returns
// quick
// without summary setup_data: ports and times
import http from 'k6/http';
export const options = { iterations: 2 };
export function setup() { return http.get(`${__ENV.TARGET}/person`); }
export default function (data) { console.log(data.status, data.body.length, data.url.endsWith('/person'), typeof data.json); }
export function teardown(data) { console.log('teardown', data.status, Object.keys(data).length); }
