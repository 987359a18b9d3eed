// Server-sent events read by http.get as a whole: the events are there when the stream ends
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () { const r = http.get(`${__ENV.TARGET}/events`, { headers: { Accept: 'text/event-stream' }, timeout: '2s' }); console.log(r.status, r.headers['Content-Type'], JSON.stringify(r.body)); }
