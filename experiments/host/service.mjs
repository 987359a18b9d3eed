// A service that a launch limits: `node service.mjs KIND PORT FOLDER`. What it finds out of its limits it writes into
// FOLDER.
//
// Whatever its kind it answers HTTP on the port, and notes in FOLDER/host the `Host` header of a request: that is how a
// proxy in front of it is known. A connection that says something else first speaks one of these:
//
//   E…            everything after the first byte comes back
//   D<bytes>\n    so many bytes come
//   U<bytes>\n    so many bytes are taken, then one comes
//   B             after ten bytes "bye" comes and the end, and soon nobody is there any more
//
// | kind | besides |
// | --- | --- |
// | line | nothing |
// | burn | two threads use all the CPU they get; FOLDER/cpu has the CPU seconds used so far, ten times a second |
// | eat | takes 16 MiB more every 20 ms; FOLDER/eaten has how many MiB it has |
// | worker | a child does so, and this process lives on |
// | tree | has a child, and a daemon in a session of its own |
import { fork, spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker, isMainThread } from 'node:worker_threads';

const PIECE = 16 << 20;
const block = Buffer.alloc(64 << 10, 7);
const [kind, port, folder] = process.argv.slice(2);

const KINDS = {
  line() {},
  burn() {
    for (let thread = 0; thread < 2; thread += 1) new Worker(new URL(import.meta.url));
    setInterval(() => {
      const { user, system } = process.cpuUsage();
      appendFileSync(join(folder, 'cpu'), `${performance.now() / 1e3} ${(user + system) / 1e6}\n`);
    }, 100);
  },
  eat() {
    const eaten = [];
    const eat = () => {
      eaten.push(Buffer.alloc(PIECE, 1));
      writeFileSync(join(folder, 'eaten'), String((eaten.length * PIECE) >> 20));
    };
    // Not before its run has begun.
    setTimeout(() => setInterval(eat, 20), 3_000);
  },
  worker() {
    fork(new URL(import.meta.url).pathname, ['eat', '0', folder]);
  },
  tree() {
    spawn('sleep', ['1000']);
    spawn('setsid', ['sh', '-c', 'sleep 1000 & sleep 1000'], { detached: true });
  },
};

if (isMainThread) {
  KINDS[kind]();
  createServer({ noDelay: true }, accepted).listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });
} else {
  for (;;);
}

function accepted(socket) {
  socket.on('error', () => socket.destroy());
  socket.once('data', (first) => {
    const [letter, rest] = [String.fromCharCode(first[0]), first.subarray(1)];
    if (letter === 'E') return echo(socket, rest);
    if (letter === 'D') return send(socket, parseInt(rest, 10));
    if (letter === 'U') return take(socket, rest);
    if (letter === 'B') return leave(socket, rest);
    answer(socket, first);
  });
}

function echo(socket, rest) {
  if (rest.length > 0) socket.write(rest);
  socket.on('data', (bytes) => socket.write(bytes));
}

function send(socket, bytes) {
  let left = bytes;
  const more = () => {
    while (left > 0) {
      const piece = block.subarray(0, Math.min(left, block.length));
      left -= piece.length;
      if (!socket.write(piece)) return socket.once('drain', more);
    }
    socket.end();
  };
  more();
}

function take(socket, rest) {
  const wanted = parseInt(rest, 10);
  let taken = rest.length - rest.indexOf(10) - 1;
  const count = (bytes) => {
    taken += bytes;
    if (taken >= wanted) socket.end('.');
  };
  socket.on('data', ({ length }) => count(length));
  count(0);
}

function leave(socket, rest) {
  let came = rest.length;
  socket.on('data', ({ length }) => {
    came += length;
    if (came < 10 || socket.writableEnded) return;
    socket.end('bye');
    setTimeout(() => socket.destroy(), 20);
  });
}

/** The simplest answer there is; the connection is closed behind it. */
function answer(socket, request) {
  const host = request.toString('latin1').match(/^host:\s*(\S+)/im)?.[1];
  if (host) writeFileSync(join(folder, 'host'), host);
  socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok');
}
