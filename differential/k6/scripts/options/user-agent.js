// userAgent, a header of a request wins, and an empty one
import http from 'k6/http';
export const options = { iterations: 1, userAgent: 'Mine/1' };
export default function () {
  http.get(`${__ENV.TARGET}/a`);
  http.get(`${__ENV.TARGET}/b`, { headers: { 'user-agent': 'Other/2' } });
  http.get(`${__ENV.TARGET}/c`, { headers: { 'User-Agent': '' } });
}
