// Bodies: objects become forms with sorted keys, texts and bytes stay
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = `${__ENV.TARGET}/body`;
  http.post(t, { z: 1, a: 'b c', list: [1, 2], nested: { x: 1 }, yes: true, none: null, 'ä&': 'ö=' });
  http.post(t, JSON.stringify({ z: 1, a: 'b' }), { headers: { 'Content-Type': 'application/json' } });
  http.post(t, { a: 1 }, { headers: { 'content-type': 'text/own' } });
  http.post(t, new Uint8Array([0, 1, 255]).buffer);
  http.post(t, 'naïve 소나기');
  http.post(t, {});
  for (const [name, body] of [['number', 7], ['boolean', true], ['list', ['a', 'b']], ['Uint8Array', new Uint8Array([65, 66])], ['date', new Date(0)], ['String', new String('boxed')], ['undefined', undefined]]) {
    try { console.log(name, http.post(`${t}/${name}`, body).json('body')); } catch (error) { console.log(name, 'throws', error.name); }
  }
}
