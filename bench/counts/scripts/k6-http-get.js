// As bench/scripts/http-closed/k6.js, with the tags that k6 gives samples by itself.
import http from 'k6/http';

export const options = { vus: 1, iterations: Number(__ENV.N), discardResponseBodies: true };

export default function () {
  http.get('http://simulated/rooms');
}
