// expectedStatuses, setResponseCallback and responseCallback of a request
import http from 'k6/http';
http.setResponseCallback(http.expectedStatuses(404, { min: 500, max: 502 }));
export const options = { iterations: 1 };
export default function () {
  for (const status of [200, 404, 500, 503]) http.get(`${__ENV.TARGET}/status/${status}`, { tags: { name: `global ${status}` } });
  http.get(`${__ENV.TARGET}/status/200`, { responseCallback: http.expectedStatuses(200), tags: { name: 'own' } });
  http.get(`${__ENV.TARGET}/status/500`, { responseCallback: null, tags: { name: 'none' } });
  http.setResponseCallback(null);
  http.get(`${__ENV.TARGET}/status/500`, { tags: { name: 'none globally' } });
  for (const wrong of [() => http.expectedStatuses('200'), () => http.expectedStatuses(), () => http.expectedStatuses({ min: 1 }), () => http.setResponseCallback(() => true)]) {
    try { wrong(); console.log('works'); } catch (error) { console.log('throws', error.name); }
  }
}
