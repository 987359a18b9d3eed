// k6/websockets: protocols, headers, tags, jar, compression
import { WebSocket } from 'k6/websockets';
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const t = __ENV.TARGET_WS;
  http.cookieJar().set(__ENV.TARGET, 'of', 'the jar');
  const jar = new http.CookieJar(); jar.set(__ENV.TARGET, 'other', 'jar');
  const all = [[`${t}/a`, ['one', 'two'], { headers: { 'x-own': '1' }, tags: { mine: 'b', name: 'named' } }], [`${t}/b`, null, { jar }], [`${t}/c`, 'single'], [`${t}/packed`, null, { compression: 'deflate' }]];
  const next = () => {
    const given = all.shift();
    if (!given) return;
    const socket = new WebSocket(...given);
    socket.onopen = () => { console.log(socket.protocol, socket.extensions); socket.close(); };
    socket.onclose = next;
  };
  next();
}
