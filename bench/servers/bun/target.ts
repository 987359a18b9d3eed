// A target for load generators that shares no code with Sonagi: the paths of `sonagi serve --null` on Bun, so that no
// tool is measured against our own server alone. Static routes are answered without entering JavaScript, broadcasts
// leave by Bun's own publish, and echoes by the corked send of the message handler: Bun's fast paths, all of them.
//
// Differences from `--null`: `/after/…` is set by JavaScript's timer, which waits whole milliseconds (`Nus` is rounded up),
// and the counters of `/null/stats` leave out the requests that static routes answer.
import type { Server, ServerWebSocket } from 'bun';

type Door =
  | { path: 'echo' }
  | { path: 'room'; room: string }
  | { path: 'flood'; payload: string; batch: number };
type Socket = ServerWebSocket<Door>;

const stats = { connections: 0, frames_in: 0, frames_out: 0 };

/** Latencies of `/after/…` in steps of 10 µs up to a second; the last step holds everything above. */
const STEP_MS = 0.01;
const after = { steps: new Uint32Array(100_001), count: 0, max_ms: 0 };

function record(ms: number) {
  after.steps[Math.min(Math.floor(ms / STEP_MS), after.steps.length - 1)]++;
  after.count++;
  if (ms > after.max_ms) after.max_ms = ms;
}

function quantile(share: number) {
  const wanted = Math.ceil(after.count * share);
  let seen = 0;
  for (let step = 0; step < after.steps.length; step++) {
    seen += after.steps[step];
    if (seen >= wanted && seen > 0) return Math.min((step + 1) * STEP_MS, after.max_ms);
  }
  return 0;
}

function answerAfter(wait: string): Promise<Response> | Response {
  const parts = /^(\d{1,9})(ms|us)$/.exec(wait);
  if (!parts) return new Response('no such wait', { status: 404 });
  const ms = Number(parts[1]) / (parts[2] === 'us' ? 1000 : 1);
  const read = performance.now();
  return new Promise((resolve) =>
    setTimeout(() => {
      record(performance.now() - read);
      resolve(new Response('ok'));
    }, Math.ceil(ms)),
  );
}

const upgrade = (request: Request, server: Server<Door>, data: Door) =>
  server.upgrade(request, { data }) ? undefined : new Response('a WebSocket upgrade is needed', { status: 426 });

/** A whole number from the query, within its limits. */
const asked = (query: URLSearchParams, name: string, preset: number, most: number) =>
  Math.min(Math.max(Math.trunc(Number(query.get(name) ?? preset)) || preset, 1), most);

/** Batches sent before the other connections have their turn. */
const TURN = 16;

/** Sends until the socket takes no more; `drain` goes on from there. */
function flood(socket: Socket, door: { payload: string; batch: number }) {
  let taken = true;
  for (let batch = 0; batch < TURN && taken; batch++) {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.cork(() => {
      for (let n = 0; n < door.batch; n++) taken = socket.sendText(door.payload) > 0;
    });
    stats.frames_out += door.batch;
  }
  if (taken) setImmediate(flood, socket, door);
}

const server: Server<Door> = Bun.serve<Door>({
  hostname: '127.0.0.1',
  port: Number(process.argv[2] ?? 0),
  routes: {
    '/after/:wait': (request) => answerAfter(request.params.wait),
    '/null/stats': () =>
      Response.json({
        requests: null,
        after: { count: after.count, p50_ms: quantile(0.5), p99_ms: quantile(0.99), max_ms: after.max_ms },
        ...stats,
      }),
    '/null/reset': () => {
      after.steps.fill(0);
      Object.assign(after, { count: 0, max_ms: 0 });
      Object.assign(stats, { frames_in: 0, frames_out: 0 });
      return new Response('ok');
    },
    '/ws/echo': (request, server) => upgrade(request, server, { path: 'echo' }),
    '/ws/room/:room': (request, server) => upgrade(request, server, { path: 'room', room: request.params.room }),
    '/ws/flood': (request, server) => {
      const query = new URL(request.url).searchParams;
      const payload = 'x'.repeat(asked(query, 'bytes', 86, 1_000_000));
      return upgrade(request, server, { path: 'flood', payload, batch: asked(query, 'batch', 64, 10_000) });
    },
    '/*': new Response('ok', { headers: { 'content-type': 'text/plain' } }),
  },
  websocket: {
    open(socket: Socket) {
      stats.connections++;
      if (socket.data.path === 'room') {
        socket.subscribe(socket.data.room);
        socket.sendText('joined');
      }
      if (socket.data.path === 'flood') flood(socket, socket.data);
    },
    message(socket: Socket, message) {
      stats.frames_in++;
      if (socket.data.path === 'echo') {
        socket.send(message);
        stats.frames_out++;
      } else if (socket.data.path === 'room') {
        server.publish(socket.data.room, message);
        stats.frames_out += server.subscriberCount(socket.data.room);
      }
    },
    drain(socket: Socket) {
      if (socket.data.path === 'flood') flood(socket, socket.data);
    },
    close() {
      stats.connections--;
    },
  },
});

console.log(`listening on http://127.0.0.1:${server.port}`);
