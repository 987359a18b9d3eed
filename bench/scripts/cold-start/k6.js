// One user, one request.
import http from 'k6/http';

export const options = { vus: 1, iterations: 1, discardResponseBodies: true };

export default function () {
  http.get(`${__ENV.TARGET}/rooms`);
}

export const handleSummary = () => ({});
