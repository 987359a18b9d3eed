// A service whose times have a known distribution: `node service.mjs SEED SLOWER`. It says where it listens.
//
//   /work    answers after a time that is drawn: lognormal, its median MEDIAN_MS × SLOWER, its p99 3.2 times that
//   /ready   answers at once, after the same work: what warms it up
//   /truth   what its own clock says of the times of /work: { count, p99_ms }
//
// Work is done first, and the rest of the time is waited for. So the drawn time is that of the whole answer, work
// included, and a planted side is slower by exactly what was planted, but for the timer: Node's are late by up to a
// millisecond, on either side alike.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { normal, random } from '../../bench/lib/random.mjs';

const MEDIAN_MS = 20;
const SIGMA = 0.5;
/** How often a kilobyte is hashed for an answer: some 50 µs of work. */
const ROUNDS = 20;

const [seed, slower] = process.argv.slice(2).map(Number);
const next = random(seed);
const block = Buffer.alloc(1024, 7);
const times = [];

const drawn = () => MEDIAN_MS * slower * Math.exp(SIGMA * normal(next));

function work() {
  const hash = createHash('sha256');
  for (let round = 0; round < ROUNDS; round += 1) hash.update(block);
  return hash.digest('hex');
}

function truth() {
  const sorted = Float64Array.from(times).sort();
  return { count: sorted.length, p99_ms: sorted[Math.ceil(sorted.length * 0.99) - 1] };
}

const server = createServer((request, response) => {
  const began = performance.now();
  request.resume();
  const answer = (text) => response.writeHead(200, { 'content-length': Buffer.byteLength(text) }).end(text);
  if (request.url === '/truth') return answer(JSON.stringify(truth()));
  const text = work();
  if (request.url !== '/work') return answer(text);
  const due = began + drawn();
  const end = () => {
    answer(text);
    times.push(performance.now() - began);
  };
  setTimeout(end, Math.max(1, Math.ceil(due - performance.now())));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
