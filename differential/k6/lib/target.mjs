// The recorder: HTTP and WebSocket on one port, the same over TLS on another, deterministic answers, and a log of what came.
//
// An entry of the log is `{connection, kind, …}`. A connection keeps its number, so that the log tells which requests shared one.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { multipart } from '../../lib/multipart.mjs';
import { route } from './routes.mjs';
import { sockets } from './sockets.mjs';

/** Starts a target on free ports: `{hosts: {TARGET, TLS}, log, close()}`. `tls` is `{key, cert}`, paths of PEM files. */
export async function start(tls) {
  const log = [];
  const sessions = new Set();
  const serve = (request, response) => served(request, response, log);
  const plain = createServer(serve);
  const secure = createSecureServer({ key: readFileSync(tls.key), cert: readFileSync(tls.cert), allowHTTP1: true, requestCert: true, rejectUnauthorized: false }, serve);
  const open = new Set();
  let connections = 0;
  for (const [server, event] of [[plain, 'connection'], [secure, 'secureConnection']]) {
    server.keepAliveTimeout = 60_000;
    server.on(event, (socket) => {
      connections += 1;
      socket.number = connections;
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    });
    server.on('session', (session) => (sessions.add(session), session.on('error', () => {})));
    server.on('sessionError', () => {});
    sockets(server, log);
    server.listen(0, '127.0.0.1');
  }
  await Promise.all([plain, secure].map((server) => server.listening || once(server, 'listening')));
  const close = async () => {
    for (const session of sessions) session.destroy();
    for (const socket of open) socket.destroy();
    await Promise.all([plain, secure].map((server) => new Promise((done) => server.close(done))));
  };
  return { hosts: { TARGET: `127.0.0.1:${plain.address().port}`, TLS: `127.0.0.1:${secure.address().port}` }, log, close };
}

async function served(request, response, log) {
  const entry = { connection: request.socket.number, kind: 'http', version: request.httpVersion, method: request.method, path: request.url, headers: spelled(request.rawHeaders) };
  log.push(entry);
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return; // The client left.
  }
  const body = Buffer.concat(chunks);
  Object.assign(entry, told(request.headers['content-type'] ?? '', body));
  route({ request, response, body, url: new URL(request.url, 'http://target') });
}

/** Names as they were written, and all values of each. */
export function spelled(raw) {
  const headers = {};
  for (let at = 0; at < raw.length; at += 2) if (!raw[at].startsWith(':')) (headers[raw[at]] ??= []).push(raw[at + 1]);
  return headers;
}

function told(type, body) {
  if (body.length === 0) return {};
  const boundary = type.match(/^multipart\/form-data;.*boundary="?([^";]+)/)?.[1];
  if (boundary) return { parts: multipart(body, boundary) };
  return { body: text(body) };
}

/** Bytes that are no text in base64. */
export function text(bytes) {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : `base64 ${bytes.toString('base64')}`;
}
