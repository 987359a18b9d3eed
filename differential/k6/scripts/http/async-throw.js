// http.asyncRequest that is refused, with throw
import http from 'k6/http';
export const options = { iterations: 1 };
export default async function () {
  try { await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true }); } catch (error) { console.log('rejects', error.name, error instanceof Error); }
}
