// The recorder's WebSockets: an echo that also does what it is told, at any path.
import { createRequire } from 'node:module';
import { spelled, text } from './target.mjs';

const require = createRequire(new URL('../../../interop/package.json', import.meta.url));
const { WebSocketServer } = require('ws');

/** Takes upgrades at a server. */
export function sockets(server, log) {
  const choose = (offered) => [...offered][0] ?? false;
  const plain = new WebSocketServer({ noServer: true, handleProtocols: choose, autoPong: true });
  const packing = new WebSocketServer({ noServer: true, handleProtocols: choose, perMessageDeflate: { threshold: 0 } });
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url, 'http://target');
    const entry = { connection: request.socket.number, kind: 'ws open', path: request.url, headers: spelled(request.rawHeaders) };
    log.push(entry);
    const refused = url.pathname.match(/^\/refuse\/(\d+)$/)?.[1];
    if (refused) return socket.end(`HTTP/1.1 ${refused} No\r\nContent-Length: 4\r\nContent-Type: text/plain\r\nX-Why: because\r\nConnection: close\r\n\r\nwhy?`);
    if (url.pathname === '/hangup') return socket.destroy();
    if (url.pathname === '/moved') return socket.end('HTTP/1.1 302 Found\r\nLocation: /echo\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    const take = () => (url.pathname === '/packed' ? packing : plain).handleUpgrade(request, socket, head, (link) => talk(link, url, entry.connection, log));
    const slow = url.pathname.match(/^\/slow\/(\d+)$/)?.[1];
    return slow ? setTimeout(take, Number(slow)) : take();
  });
  for (const sockets of [plain, packing]) sockets.on('headers', (headers, request) => request.url.startsWith('/cookie') && headers.push('Set-Cookie: from=handshake', 'X-Shaken: yes'));
}

function talk(link, url, connection, log) {
  const put = (kind, more) => log.push({ connection, kind, ...more });
  link.on('error', () => {});
  link.on('close', (code, reason) => put('ws close', { code, reason: reason.toString() }));
  link.on('ping', (data) => put('ws ping', { body: text(data) }));
  link.on('pong', (data) => put('ws pong', { body: text(data) }));
  link.on('message', (data, binary) => {
    put(binary ? 'ws binary' : 'ws text', { body: text(data) });
    const [word, ...rest] = data.toString().split(' ');
    const does = !binary && COMMANDS[word];
    if (does) does(link, rest);
    else if (url.pathname !== '/quiet') link.send(data, { binary });
  });
  if (url.pathname === '/greet') link.send('welcome');
  if (url.pathname === '/leave') link.close(4001, 'left at once');
}

/** What a text may tell the recorder to do. */
const COMMANDS = {
  bye: (link, [code = '1000', ...reason]) => link.close(Number(code), reason.join(' ')),
  leave: (link) => link.close(),
  drop: (link) => link.terminate(),
  ping: (link, [data = '']) => link.ping(data),
  many: (link, [count]) => Array.from({ length: Number(count) }, (_, at) => link.send(`word ${at}`)),
  bytes: (link, all) => link.send(Buffer.from(all.map(Number)), { binary: true }),
  parts: (link) => (link.send('begin,', { fin: false }), link.send('middle,', { fin: false }), link.send('end', { fin: true })),
  long: (link, [length]) => link.send('x'.repeat(Number(length))),
  broken: (link) => link._socket.write(Buffer.from([0x83, 0x00])), // an opcode that means nothing
  invalid: (link) => link._socket.write(Buffer.from([0x81, 0x02, 0xff, 0xfe])), // no UTF-8
  quiet: () => {},
};
