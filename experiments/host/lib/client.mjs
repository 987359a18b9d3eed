// A client beside the run: how long bytes are on their way, and how many of them come in a second. It is the same for
// the service itself and for the proxy in front of it, so that its own delays are in both and go out of the difference.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A connection that takes longer to open than this, or an answer, is none (ms). */
const OVERDUE_MS = 15_000;
/** Connections that are opened at a time. */
const AT_A_TIME = 100;

/** Opens a connection; `opened_ms`: how long that took. */
async function opened(port) {
  const began = performance.now();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect', { signal: AbortSignal.timeout(OVERDUE_MS) });
  // What happens to it later is seen by what does not come back.
  socket.on('error', () => {});
  return { socket, opened_ms: performance.now() - began };
}

/** How long it takes to open a connection, so many times one after the other: sorted (ms). */
export async function openings(port, count) {
  const times = [];
  for (let opening = 0; opening < count; opening += 1) {
    const { socket, opened_ms } = await opened(port);
    times.push(opened_ms);
    socket.resetAndDestroy();
  }
  return times.sort((a, b) => a - b);
}

/** Connections whose bytes come back. `close()` resets them, so that no port is kept from the next ones. */
export class Echoes {
  #sockets = [];

  /** Opens so many; those that could not be opened are `refused`. */
  static async to(port, count) {
    const echoes = new Echoes();
    echoes.refused = 0;
    while (echoes.#sockets.length + echoes.refused < count) {
      const missing = count - echoes.#sockets.length - echoes.refused;
      const opening = Array.from({ length: Math.min(AT_A_TIME, missing) }, () => opened(port));
      for (const { value, reason } of await Promise.allSettled(opening)) {
        if (reason) {
          echoes.refused += 1;
          continue;
        }
        value.socket.write('E');
        echoes.#sockets.push(value.socket);
      }
    }
    return echoes;
  }

  /**
   * Sends `rounds` messages over each, `a_second` of all together and evenly in time, each when it is due and not when
   * the one before it has come back: `{ ms, missing }`, the times of all that came back, sorted, and how many did not.
   */
  async ping(rounds, a_second) {
    const times = [];
    const ends = this.#sockets.map((socket) => {
      const sent = [];
      let partial = 0;
      const hear = ({ length }) => {
        const now = performance.now();
        partial += length;
        for (; partial >= 8; partial -= 8) times.push(now - sent.shift());
      };
      socket.on('data', hear);
      return { sent, forget: () => socket.off('data', hear) };
    });
    const total = rounds * this.#sockets.length;
    const began = performance.now();
    for (let next = 0; next < total; ) {
      const due = Math.min(total, Math.floor(((performance.now() - began) * a_second) / 1e3) + 1);
      for (; next < due; next += 1) this.#send(next % this.#sockets.length, ends);
      await delay(1);
    }
    const until = performance.now() + OVERDUE_MS;
    while (times.length < total && performance.now() < until) await delay(5);
    for (const { forget } of ends) forget();
    return { ms: times.sort((a, b) => a - b), missing: total - times.length };
  }

  #send(at, ends) {
    ends[at].sent.push(performance.now());
    this.#sockets[at].write('12345678');
  }

  close() {
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#sockets = [];
  }
}

/** Gets or gives so many bytes over so many connections at the same time: bits a second of all of them. */
export async function carried(port, way, bytes, connections = 1) {
  const each = Math.floor(bytes / connections);
  const links = await Promise.all(Array.from({ length: connections }, () => opened(port)));
  const began = performance.now();
  try {
    await Promise.all(links.map(({ socket }) => (way === 'down' ? got(socket, each) : given(socket, each))));
    return (each * connections * 8e3) / (performance.now() - began);
  } finally {
    for (const { socket } of links) socket.destroy();
  }
}

async function got(socket, bytes) {
  socket.write(`D${bytes}\n`);
  let came = 0;
  socket.on('data', ({ length }) => (came += length));
  await once(socket, 'end', { signal: AbortSignal.timeout(OVERDUE_MS) });
  if (came !== bytes) throw new Error(`${came} bytes of ${bytes} came`);
}

async function given(socket, bytes) {
  socket.write(`U${bytes}\n`);
  socket.write(Buffer.alloc(bytes, 7));
  await once(socket, 'data', { signal: AbortSignal.timeout(OVERDUE_MS) });
}

/** Sends byte after byte to a service that takes its leave after ten: what came, or how the connection ended. */
export async function farewell(port) {
  const { socket } = await opened(port);
  let came = '';
  socket.on('data', (bytes) => (came += bytes));
  const failed = once(socket, 'error').then(([error]) => error.code);
  socket.write('B');
  for (let byte = 0; byte < 200 && !socket.destroyed; byte += 1) {
    socket.write('x');
    await delay(3);
  }
  socket.destroy();
  return came || Promise.race([failed, delay(100, 'nothing')]);
}

/** The value below which this share of sorted ones lies. */
export const quantile = (sorted, share) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
