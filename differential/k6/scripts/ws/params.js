// k6/ws: headers, tags, jar, compression, subprotocols
import ws from 'k6/ws';
import http from 'k6/http';
export const options = { iterations: 1, userAgent: 'mine' };
export default function () {
  const t = __ENV.TARGET_WS;
  http.cookieJar().set(__ENV.TARGET, 'of', 'the jar');
  const done = (socket) => socket.on('open', () => socket.close());
  ws.connect(`${t}/a?q=1`, { headers: { 'x-own': '1', Cookie: 'own=1' }, tags: { mine: 'b', name: 'named' } }, done);
  const jar = new http.CookieJar(); jar.set(__ENV.TARGET, 'other', 'jar');
  ws.connect(`${t}/b`, { jar }, done);
  const r = ws.connect(`${t}/c`, { headers: { 'Sec-WebSocket-Protocol': 'one, two' } }, done);
  console.log(r.headers['Sec-Websocket-Protocol']);
  console.log(ws.connect(`${t}/packed`, { compression: 'deflate' }, (socket) => { socket.on('open', () => socket.send('packed '.repeat(50))); socket.on('message', (text) => { console.log(text.length); socket.close(); }); }).headers['Sec-Websocket-Extensions']);
  try { ws.connect(`${t}/d`, { compression: 'gzip' }, done); } catch (error) { console.log('throws', error.name); }
  ws.connect(`${t}/cookie`, done);
  console.log(http.get(`${__ENV.TARGET}/after`).json('cookie'));
}
