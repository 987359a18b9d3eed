// The reference implementation as a program: an Engine.IO echo at /engine.io/, a Socket.IO server at /socket.io/.
// With --eio3 it speaks to clients of Socket.IO 2 as well, and takes every other version for theirs.
// A process of its own, because sessions it has closed keep it alive for half a minute. It ends with its standard input.
import { createServer } from 'node:http';
import { Server as Engine } from 'engine.io';
import { Server } from 'socket.io';
import { CONNECT_MS, INTERVAL_3_MS, INTERVAL_MS, MAX_PAYLOAD, TIMEOUT_3_MS, TIMEOUT_MS } from './limits.mjs';

const http = createServer((_, response) => response.writeHead(404).end());
const allowEIO3 = process.argv.includes('--eio3');
const [pingInterval, pingTimeout] = allowEIO3 ? [INTERVAL_3_MS, TIMEOUT_3_MS] : [INTERVAL_MS, TIMEOUT_MS];
const options = { allowEIO3, pingInterval, pingTimeout, maxHttpBufferSize: MAX_PAYLOAD, destroyUpgrade: false };

const engine = new Engine(options);
engine.attach(http, { path: '/engine.io/', destroyUpgrade: false });
engine.on('connection', (session) => session.on('data', (data) => session.send(data)));

const io = new Server(http, { ...options, connectTimeout: CONNECT_MS });
io.on('connection', (socket) => {
  socket.emit('auth', socket.handshake.auth);
  socket.on('message', (...values) => socket.emit('message-back', ...values));
  socket.on('message-with-ack', (...values) => values.pop()(...values));
});
io.of('/custom').on('connection', (socket) => socket.emit('auth', socket.handshake.auth));

http.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}`));
process.stdin.resume().on('end', () => process.exit(0));
