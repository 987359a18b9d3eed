// The Host header: as the URL has it, with its port and case; the script's own; after a redirect
// quick
// order: any
import http from 'k6/http';
import ws from 'k6/ws';
export const options = { iterations: 1, hosts: { 'some.name': __ENV.TARGET_HOST, 'some.name:80': __ENV.TARGET_HOST } };
export default function () {
  for (const url of ['http://Some.Name:80/a', 'http://some.name/b', 'http://SOME.name/c', 'http://some.name:8080/d', 'http://some.name:/e', 'http://some.name:080/f', 'http://Some.Name:80/redirect/302']) http.get(url);
  http.get('http://Some.Name/g', { headers: { Host: 'Other.Host:80' } });
  http.get('http://Some.Name/h', { headers: { host: '' } });
  http.get('http://Some.Name:80/redirect/302', { headers: { host: 'Mine:80' } });
  console.log(http.get('http://Some.Name:80/redirect/302').url);
  ws.connect('ws://Some.Name:80/echo', (socket) => socket.on('open', () => socket.close()));
  ws.connect('ws://Some.Name/echo', { headers: { host: 'Mine:80' } }, (socket) => socket.on('open', () => socket.close()));
}
