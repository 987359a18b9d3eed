// The target of both tools: HTTP, WebSocket and Socket.IO on one port, deterministic answers, and a log of what came.
//
// An entry of the log is what a user did: `{user, kind, …}`. A user is known by its connection: both tools open one of a
// kind for each. (A header of its own would be no better: in Artillery the defaults know no users.)
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { multipart } from '../../lib/multipart.mjs';

const require = createRequire(new URL('../../../interop/package.json', import.meta.url));
const { WebSocketServer } = require('ws');
const { Server } = require('socket.io');

const PERSON = { id: 7, name: 'Ann', email: 'ann@example.test', tags: ['red'], nested: { deep: [{ v: 'x' }] }, flag: true, zero: 0, ratio: 1.5, none: null };
const XML = '<?xml version="1.0"?><shop><item id="1"><title>Pear</title></item><item id="2"><title>Fig</title></item></shop>';
const HTML = '<!doctype html><html><body><form><input type="hidden" name="csrf" value="c-42"></form><ul><li class="a" data-n="1">one</li><li class="a" data-n="2">two</li></ul></body></html>';

/** Starts a target on a free port: `{url, log, close()}`. */
export async function start() {
  const log = [];
  let connections = 0;
  const server = createServer((request, response) => serve(request, response, log));
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    connections += 1;
    socket.number = connections;
    socket.on('error', () => {});
  });
  sockets(server, log);
  rooms(server, log);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return { url, log, close, connections: () => connections };
}

const who = (request) => `connection ${request.socket.number}`;

async function serve(request, response, log) {
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return; // The client left.
  }
  const url = new URL(request.url, 'http://target');
  const body = Buffer.concat(chunks);
  const said = read(request.headers['content-type'] ?? '', body);
  log.push({ user: who(request), kind: 'http', method: request.method, path: request.url, headers: request.headers, ...said });
  const route = ROUTES.find(([pattern]) => pattern.test(url.pathname));
  if (!route) return answer(response, 404, { error: 'not_found' });
  return route[1]({ request, response, url, said, path: url.pathname.match(route[0]) });
}

/** A body as what it says it is, so that the order of bytes that means nothing does not count. */
function read(type, body) {
  if (body.length === 0) return {};
  const boundary = type.match(/^multipart\/form-data;.*boundary="?([^";]+)/)?.[1];
  if (boundary) return { parts: multipart(body, boundary) };
  const text = body.toString();
  if (/^application\/json/.test(type)) {
    try {
      return { json: JSON.parse(text, sorted) };
    } catch {
      return { text };
    }
  }
  return { text };
}

/** An object's keys have no order. */
function sorted(key, value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function answer(response, status, value, headers = {}) {
  const text = JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers });
  response.end(text);
}

function plain(response, type, text, headers = {}) {
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers });
  response.end(text);
}

/** Path, and what is answered; the first that fits. */
const ROUTES = [
  [/^\/person/, ({ response }) => answer(response, 200, PERSON)],
  [/^\/login$/, ({ response, said }) => answer(response, 201, { token: `token-of-${said.json?.email ?? said.json?.user}` })],
  [/^\/me$/, ({ request, response }) => (request.headers.authorization ? answer(response, 200, { me: request.headers.authorization }) : answer(response, 401, { error: 'unauthorized' }))],
  [/^\/list$/, ({ response }) => answer(response, 200, { items: ['a', 'b', 'c'], rows: [{ id: 1 }, { id: 2 }] })],
  [/^\/status\/(\d+)$/, ({ response, path }) => (path[1] === '204' ? response.writeHead(204).end() : answer(response, Number(path[1]), { status: Number(path[1]) }))],
  [/^\/redirect\/(\d+)$/, ({ response, path, url }) => response.writeHead(Number(path[1]), { location: url.searchParams.get('to') ?? '/person', 'content-length': 0 }).end()],
  [/^\/cookies\/set$/, ({ response, url }) => answer(response, 200, {}, { 'set-cookie': [...url.searchParams].map(([name, value]) => `${name}=${value}; Path=/`) })],
  [/^\/cookies\/drop$/, ({ response, url }) => answer(response, 200, {}, { 'set-cookie': `${url.searchParams.get('name')}=; Path=/; Max-Age=0` })],
  [/^\/cookies\/expire$/, ({ response, url }) => answer(response, 200, {}, { 'set-cookie': `${url.searchParams.get('name')}=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT` })],
  [/^\/cookies\/here$/, ({ response }) => answer(response, 200, {}, { 'set-cookie': ['here=1', 'below=1; Path=/below'] })],
  [/^\/gzip$/, ({ response }) => packed(response, 'gzip', gzipSync(JSON.stringify(PERSON)))],
  [/^\/deflate$/, ({ response }) => packed(response, 'deflate', deflateRawSync(JSON.stringify(PERSON)))],
  [/^\/xml$/, ({ response }) => plain(response, 'application/xml', XML)],
  [/^\/html$/, ({ response }) => plain(response, 'text/html', HTML)],
  [/^\/text$/, ({ response }) => plain(response, 'text/plain', 'order 66 of 99 for ann', { etag: '"v1"', 'x-token': 'from-a-header' })],
  [/^\/slow\/(\d+)$/, ({ response, path }) => setTimeout(() => answer(response, 200, { slow: true }), Number(path[1]))],
  [/^\/timed$/, ({ response }) => answer(response, 200, {}, { 'server-timing': 'db;dur=5.5, total;dur=12.5' })],
  [/^\/reset$/, ({ request }) => request.socket.destroy()],
  [/^\//, ({ request, response, said }) => answer(response, 200, { method: request.method, path: request.url, ...said })],
];

function packed(response, coding, bytes) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding, 'content-length': bytes.length });
  response.end(bytes);
}

/** WebSockets at any path but Socket.IO's. */
function sockets(server, log) {
  const ws = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0] ?? false });
  server.on('upgrade', (request, socket, head) => {
    if (request.url.startsWith('/socket.io/')) return;
    if (request.url.startsWith('/refused')) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    ws.handleUpgrade(request, socket, head, (link) => talk(link, request, log));
  });
}

function talk(link, request, log) {
  const user = who(request);
  log.push({ user, kind: 'ws open', path: request.url, headers: request.headers });
  link.on('error', () => {});
  link.on('close', () => log.push({ user, kind: 'ws close' }));
  link.on('message', (data, binary) => {
    const text = data.toString();
    log.push({ user, kind: binary ? 'ws binary' : 'ws text', text });
    if (text === 'bye') return link.close(1000);
    if (text === 'thrice') return ['one', 'two', 'three'].forEach((word) => link.send(JSON.stringify({ word })));
    if (text.startsWith('plain')) return link.send(`plain answer to ${text}`);
    if (text.startsWith('quiet')) return undefined;
    return link.send(JSON.stringify({ type: 'echo', said: asJson(text) }));
  });
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function rooms(server, log) {
  const io = new Server(server, { transports: ['websocket', 'polling'], serveClient: false, destroyUpgrade: false });
  let serial = 0;
  for (const namespace of ['/', '/admin']) {
    io.of(namespace).on('connection', (socket) => {
      const { auth, query, headers } = socket.handshake;
      serial += 1;
      const user = `socket ${serial}`;
      const asked = Object.fromEntries(Object.entries(query).filter(([key]) => !['t', 'b64'].includes(key)));
      log.push({ user, kind: 'socketio open', namespace, auth, query: asked, headers });
      socket.on('disconnect', () => log.push({ user, kind: 'socketio close', namespace }));
      socket.onAny((event, ...all) => heard(socket, log, { user, namespace, event, all }));
    });
  }
}

function heard(socket, log, { user, namespace, event, all }) {
  const acknowledge = typeof all.at(-1) === 'function' ? all.pop() : undefined;
  log.push({ user, kind: 'socketio event', namespace, event, all, acknowledged: acknowledge !== undefined });
  if (event === 'silent') return;
  acknowledge?.({ ok: event !== 'refuse', event, first: all[0] ?? null }, 'second');
  if (event === 'greet') socket.emit('welcome', `hello ${all[0]}`, { to: all[0] });
  if (event === 'echo') socket.emit('echo', ...all);
}
