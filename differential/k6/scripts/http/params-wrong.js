// Params that are none, or of the wrong type
import http from 'k6/http';
export const options = { iterations: 8 };
export default function () {
  const params = [null, 'text', 7, { headers: 'text' }, { timeout: 'soon' }, { redirects: 'two' }, { auth: 'magic' }, { unknown: 1, cookies: null, headers: null }][__ITER];
  console.log(__ITER, http.get(`${__ENV.TARGET}/${__ITER}`, params).status);
}
