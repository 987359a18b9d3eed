// A service with a planted limit: `node service.mjs KIND`. It says its address, and ends when its standard input does.
//
// Limits are kept by the clock and not by work: an answer is due at an instant that is computed when its request comes. So the limit is
// exactly what it is said to be, whatever this machine does meanwhile, and the service itself costs next to nothing.
import { createServer } from 'node:http';

const now = () => performance.now();

/** Tokens come at a rate, and a tenth of a second's worth is kept; who gets none is answered 503 at once. */
function bucket(perSecond) {
  const most = perSecond / 10;
  let [tokens, last] = [most, now()];
  return (answer) => {
    const at = now();
    tokens = Math.min(most, tokens + ((at - last) * perSecond) / 1000);
    last = at;
    if (tokens < 1) return answer(503, 0);
    tokens -= 1;
    answer(200, 0);
  };
}

/** So many at a time, each for so long; the others wait for the first that is free. */
function pool(size, heldMs) {
  const free = Array.from({ length: size }, () => 0);
  return (answer) => {
    const first = free.indexOf(Math.min(...free));
    free[first] = Math.max(now(), free[first]) + heldMs;
    answer(200, free[first]);
  };
}

/** One after the other, and each takes the longer the more are in the room: `N × unit`. */
function room(unitMs, members) {
  let free = 0;
  return (answer) => {
    free = Math.max(now(), free) + members.size * unitMs;
    answer(200, free);
  };
}

const members = new Set();
const KINDS = {
  bucket500: () => bucket(500),
  bucket2000: () => bucket(2000),
  bucket8000: () => bucket(8000),
  pool: () => pool(4, 50),
  room: () => room(0.1, members),
};

const limit = KINDS[process.argv[2]]();
const server = createServer((request, response) => {
  request.resume();
  limit((status, due) => {
    const end = () => response.writeHead(status, { 'content-length': 2 }).end('ok');
    const wait = due - now();
    if (wait > 0.5) setTimeout(end, wait);
    else end();
  });
});
server.on('connection', (socket) => members.add(socket).size && socket.on('close', () => members.delete(socket)));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on('end', () => process.exit(0));
