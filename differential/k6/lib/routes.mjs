// What the recorder answers, by path.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

const PERSON = { id: 7, name: 'Ann', email: 'ann@example.test', tags: ['red', 'blue'], nested: { deep: [{ v: 'x' }, { v: 'y' }] }, flag: true, zero: 0, ratio: 1.5, none: null, 'dotted.key': 'd', friends: [{ first: 'Dale', age: 44 }, { first: 'Roger', age: 68 }] };
const HTML = `<!doctype html><html><head><title>A page</title></head><body>
<h1 id="top" class="big blue">Hello <em>world</em></h1>
<ul><li class="a" data-n="1" data-some-long="x">one</li><li class="a b" data-n="2">two</li><li class="c">three</li></ul>
<a href="/landed?by=link">first link</a><a href="landed/second">second link</a>
<form action="/form/sent" method="post"><input type="hidden" name="csrf" value="c-42"><input type="text" name="user" value="ann"><input type="checkbox" name="yes" checked><input type="checkbox" name="no"><select name="pick"><option value="1">one</option><option value="2" selected>two</option></select><textarea name="area">words</textarea><button type="submit" name="go" value="went">Go</button></form>
<form id="asks" action="/form/asked"><input name="q" value="a b"></form>
</body></html>`;

/** Answers one request. */
export function route(asked) {
  const [pattern, answer] = ROUTES.find(([pattern]) => pattern.test(asked.url.pathname));
  answer({ ...asked, path: asked.url.pathname.match(pattern) });
}

function json(response, status, value, headers = {}) {
  bytes(response, status, Buffer.from(JSON.stringify(value)), { 'content-type': 'application/json', ...headers });
}

function bytes(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-length': body.length, date: 'Thu, 01 Jan 2026 00:00:00 GMT', ...headers });
  response.end(body);
}

const packed = (coding, pack) => ({ response }) => bytes(response, 200, pack(Buffer.from(JSON.stringify(PERSON))), { 'content-type': 'application/json', 'content-encoding': coding });
const words = (type, text) => ({ response }) => bytes(response, 200, Buffer.from(text), { 'content-type': type });
const socketOf = (request) => request.socket;

/** Path, and what is answered; the first that fits. */
const ROUTES = [
  [/^\/person$/, ({ response }) => json(response, 200, PERSON)],
  [/^\/html$/, words('text/html; charset=utf-8', HTML)],
  [/^\/text$/, words('text/plain', 'order 66 of 99 for ann')],
  [/^\/unicode$/, words('text/plain; charset=utf-8', 'naïve 소나기 🌧')],
  [/^\/latin$/, ({ response }) => bytes(response, 200, Buffer.from([0x6e, 0x61, 0xef, 0x76, 0x65]), { 'content-type': 'text/plain; charset=iso-8859-1' })],
  [/^\/notjson$/, words('application/json', '{"a": ')],
  [/^\/bytes$/, ({ response }) => bytes(response, 200, Buffer.from([0, 1, 2, 253, 254, 255]), { 'content-type': 'application/octet-stream' })],
  [/^\/size\/(\d+)$/, ({ response, path }) => bytes(response, 200, Buffer.alloc(Number(path[1]), 'x'), { 'content-type': 'text/plain' })],
  [/^\/empty$/, ({ response }) => bytes(response, 200, Buffer.alloc(0))],
  [/^\/status\/(\d+)$/, ({ response, path }) => ([204, 304].includes(Number(path[1])) ? response.writeHead(Number(path[1])).end() : json(response, Number(path[1]), { status: Number(path[1]) }))],
  [/^\/reason$/, ({ response }) => response.writeHead(299, 'A Reason Of Its Own', { 'content-length': 0 }).end()],
  [/^\/redirect\/(\d+)$/, ({ response, path, url }) => response.writeHead(Number(path[1]), { location: url.searchParams.get('to') ?? '/landed', 'content-length': 0 }).end()],
  [/^\/redirects\/(\d+)$/, ({ response, path }) => response.writeHead(302, { location: Number(path[1]) > 1 ? `/redirects/${path[1] - 1}` : '/landed', 'set-cookie': `hop${path[1]}=1`, 'content-length': 0 }).end()],
  [/^\/nowhere$/, ({ response }) => response.writeHead(302, { 'content-length': 0 }).end()],
  [/^\/cookies\/set$/, ({ response, url }) => json(response, 200, {}, { 'set-cookie': [...url.searchParams].map(([name, value]) => `${name}=${value}`) })],
  [/^\/cookies\/rich$/, ({ response }) => json(response, 200, {}, { 'set-cookie': ['all=1; Path=/; HttpOnly; Secure; SameSite=Lax', 'below=1; Path=/below', 'later=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT; Max-Age=60', 'gone=1; Max-Age=0', 'other=1; Domain=example.test'] })],
  [/^\/headers$/, ({ response }) => json(response, 200, {}, { 'x-one': '1', 'X-TWO-words': '2', 'x-many': ['a', 'b'], etag: '"v1"' })],
  [/^\/gzip$/, packed('gzip', gzipSync)],
  [/^\/deflate$/, packed('deflate', deflateSync)],
  [/^\/br$/, packed('br', brotliCompressSync)],
  [/^\/badgzip$/, ({ response }) => bytes(response, 200, Buffer.from('this is no gzip'), { 'content-encoding': 'gzip' })],
  [/^\/badcoding$/, ({ response }) => bytes(response, 200, Buffer.from('plain'), { 'content-encoding': 'rot13' })],
  [/^\/unpacked$/, ({ request, response, body }) => json(response, 200, { coding: request.headers['content-encoding'] ?? null, length: request.headers['content-length'] ?? null, same: body.length })],
  [/^\/slow\/(\d+)$/, ({ response, path }) => setTimeout(() => json(response, 200, { slow: true }), Number(path[1]))],
  [/^\/drip\/(\d+)$/, ({ response, path }) => (response.writeHead(200, { 'content-type': 'text/plain' }), response.write('first,'), setTimeout(() => response.end('last'), Number(path[1])))],
  [/^\/chunked$/, ({ response }) => (response.writeHead(200, { 'content-type': 'text/plain' }), response.write('one,'), response.write('two,'), response.end('three'))],
  [/^\/events$/, ({ response }) => (response.writeHead(200, { 'content-type': 'text/event-stream' }), response.write('id: 1\ndata: one\n\n'), setTimeout(() => response.end('event: last\ndata: two\n\n'), 100))],
  [/^\/reset$/, ({ request }) => socketOf(request).resetAndDestroy()],
  [/^\/hangup$/, ({ request }) => socketOf(request).destroy()],
  [/^\/truncated$/, ({ request, response }) => (response.writeHead(200, { 'content-length': 100 }), response.write('part'), setTimeout(() => socketOf(request).destroy(), 50))],
  [/^\/garbage$/, ({ request }) => socketOf(request).end('this is not HTTP\r\n\r\n')],
  [/^\/whoami$/, ({ request, response }) => json(response, 200, { certificate: socketOf(request).getPeerCertificate?.()?.subject?.CN ?? null })],
  [/^\/from$/, ({ request, response }) => json(response, 200, { from: socketOf(request).remoteAddress })],
  [/^\/goodbye$/, ({ response }) => json(response, 200, {}, { connection: 'close' })],
  [/^\//, ({ request, response, body }) => json(response, 200, { method: request.method, path: request.url, cookie: request.headers.cookie ?? null, body: body.toString() })],
];
