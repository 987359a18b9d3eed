// Response.html, submitForm and clickLink
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET;
  const r = http.get(`${t}/html`);
  console.log(r.html('title').text(), r.html().find('li').size(), r.html('li.a').first().text());
  const sent = r.submitForm({ fields: { user: 'bob', extra: '1' } });
  console.log(sent.json('method'), sent.json('path'), sent.json('body'));
  const asked = r.submitForm({ formSelector: '#asks', fields: { q: 'new' } });
  console.log(asked.json('method'), asked.json('path'));
  const pressed = r.submitForm({ formSelector: 'form', submitSelector: '[name=go]' });
  console.log(pressed.json('body'));
  console.log(r.clickLink().json('path'), r.clickLink({ selector: 'a:nth-of-type(2)' }).json('path'));
  try { r.clickLink({ selector: 'a.none' }); } catch (error) { console.log('throws', error.name); }
}
