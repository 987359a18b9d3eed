// Response.json of what is no JSON, empty, or has no body
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  for (const [path, more] of [['/text'], ['/notjson'], ['/empty'], ['/person', { responseType: 'none' }], ['/person', { responseType: 'binary' }]]) {
    const r = http.get(`${__ENV.TARGET}${path}`, more);
    try { console.log(path, typeof r.json()); } catch (error) { console.log(path, 'throws', error.name); }
    try { console.log(path, typeof r.json('a')); } catch (error) { console.log(path, 'with a selector throws', error.name); }
  }
}
