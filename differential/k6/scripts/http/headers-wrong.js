// Headers that cannot be sent
import http from 'k6/http';
export const options = { iterations: 4 };
export default function () {
  const headers = [{ 'bad name': 'a' }, { 'x-newline': 'a\nb' }, { list: ['a', 'b'] }, { nothing: null }][__ITER];
  const r = http.get(`${__ENV.TARGET}/${__ITER}`, { headers });
  console.log(__ITER, r.status, r.error_code);
}
