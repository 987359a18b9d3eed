// An await of what rejects, caught and not
import http from 'k6/http';
export const options = { iterations: 2 };
export default async function () {
  try { await Promise.reject(new Error('caught')); } catch (error) { console.log('caught', error.message); }
  await http.asyncRequest('GET', `${__ENV.TARGET}/one/${__ITER}`);
  if (__ITER === 0) await Promise.reject(new Error('not caught'));
  console.log('whole', __ITER);
}
