// What http's functions make of arguments that are missing or of another type
import http from 'k6/http';
export const options = { iterations: 1 };
const tried = (name, what) => { try { const value = what(); console.log(name, typeof value === 'string' ? value : JSON.stringify(value)); } catch (error) { console.log(name, 'throws', error.name, error.message); } };
export default function () {
  const u = `${__ENV.TARGET}/arguments`;
  tried('get nothing', () => http.get().error);
  tried('post nothing', () => http.post().error);
  tried('batch nothing', () => http.batch());
  tried('params null', () => http.get(u, null).status);
  tried('params text', () => http.get(u, 'x').status);
  tried('method null', () => http.request(null, u).request.method);
  tried('method of two words', () => http.request('A B', u).error);
  tried('form', () => http.post(u, { a: { b: 1 }, c: [1, 2], d: null, e: undefined, f: true, g: 1.5, h: new Date(0), i: new Date(1500) }).request.body);
  tried('body list', () => http.post(u, [1, 2]).error);
  tried('body number', () => http.post(u, 5).error);
  for (const timeout of [null, {}, 'x', -1]) tried(`timeout ${timeout}`, () => http.get(u, { timeout }).error);
  for (const responseType of [null, 'x']) tried(`responseType ${responseType}`, () => http.get(u, { responseType }).error);
  tried('jar', () => http.get(u, { jar: {} }).status);
  tried('compression', () => http.post(u, 'a', { compression: 'x' }).error);
  tried('percent', () => http.get(`${u}/%zz`).error_code);
  tried('json again', () => { const r = http.get(u); r.json().added = 1; return r.json().added; });
  tried('spread', () => Object.keys({ ...http.get(u) }).length);
  tried('stringified', () => Object.keys(JSON.parse(JSON.stringify(http.get(u)))).sort().join());
}
