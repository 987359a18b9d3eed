// auth: what is sent, and what the tags say of an address with a password
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const given = __ENV.TARGET.replace('http://', 'http://us%20er:pass%2Fwd@');
  console.log(http.get(`${given}/basic`).url.replace(__ENV.TARGET_HOST, 'HOST'));
  http.get(`${given}/named`, { auth: 'basic', tags: { name: 'named' } });
}
