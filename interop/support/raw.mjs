// Engine.IO by hand: what a client library would hide, on plain HTTP requests and plain WebSockets.
import { WebSocket } from 'ws';
import { event, Inbox, within } from './wait.mjs';

const LIMIT_MS = 5000;
const SEPARATOR = '\x1e';

/** One HTTP request: `{ status, body }`. */
export async function request(url, { method = 'GET', body } = {}) {
  return within(LIMIT_MS, `the answer to ${method} ${url}`, async (signal) => {
    const response = await fetch(url, { method, body, signal, headers: body === undefined ? {} : { 'content-type': 'text/plain;charset=UTF-8' } });
    return { status: response.status, body: await response.text() };
  });
}

/** A long-polling session; `path` is /engine.io/ or /socket.io/. */
export class Polling {
  static async open(origin, path) {
    const url = `${origin}${path}?EIO=4&transport=polling`;
    const { status, body } = await request(url);
    if (status !== 200 || !body.startsWith('0')) throw new Error(`the handshake was answered ${status} ${body}`);
    return new Polling(url, JSON.parse(body.slice(1)));
  }

  constructor(url, handshake) {
    this.handshake = handshake;
    this.url = `${url}&sid=${handshake.sid}`;
    this.websocketUrl = this.url.replace(/^http/, 'ws').replace('transport=polling', 'transport=websocket');
  }

  /** Posts packets in one payload. */
  push(...packets) {
    return request(this.url, { method: 'POST', body: packets.join(SEPARATOR) });
  }

  /** One poll: its status and packets. */
  async pull() {
    const { status, body } = await request(this.url);
    return { status, body, packets: body.split(SEPARATOR) };
  }

  /** Polls until this many packets came that are no pings of the server; those are answered. */
  async packets(count) {
    const found = [];
    while (found.length < count) {
      const { status, packets } = await this.pull();
      if (status !== 200) throw new Error(`a poll was answered ${status} after ${found.length} of ${count} packets`);
      if (packets.includes('2')) await this.push('3');
      found.push(...packets.filter((packet) => packet !== '2'));
    }
    return found;
  }

  /** Polls until the session is gone (a poll is refused); the packets seen before. Pings are answered unless told otherwise. */
  async ended({ alive = true } = {}) {
    const seen = [];
    for (let polls = 0; polls < 20; polls += 1) {
      const { status, packets } = await this.pull();
      if (status === 400) return seen;
      if (alive && packets.includes('2')) await this.push('3');
      seen.push(...packets);
    }
    throw new Error(`the session is still there after: ${seen}`);
  }
}

/** A WebSocket whose frames are read one after another. */
export class Frames {
  #read = 0;

  constructor(url) {
    this.inbox = new Inbox();
    this.socket = new WebSocket(url);
    this.socket.on('message', (data, binary) => this.inbox.push(binary ? data : data.toString()));
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.on('close', resolve));
  }

  /** A socket with its Engine.IO handshake read. */
  static async open(origin, path) {
    const frames = new Frames(`${origin.replace(/^http/, 'ws')}${path}?EIO=4&transport=websocket`);
    const first = await frames.next();
    if (!first.startsWith('0')) throw new Error(`the first frame is ${first}`);
    frames.handshake = JSON.parse(first.slice(1));
    return frames;
  }

  send(...frames) {
    for (const frame of frames) this.socket.send(frame);
  }

  opened() {
    return event(this.socket, 'open', LIMIT_MS);
  }

  /** The next frame; pings of the server are answered and passed over unless `pings` is true. */
  async next({ pings = false } = {}) {
    for (;;) {
      const frame = (await this.inbox.first(this.#read + 1, LIMIT_MS))[this.#read];
      this.#read += 1;
      if (pings || frame !== '2') return frame;
      this.socket.send('3');
    }
  }

  async take(count) {
    const taken = [];
    while (taken.length < count) taken.push(await this.next());
    return taken;
  }

  /**
   * The other side has closed the socket; the frames it sent. Pings are answered meanwhile unless told otherwise: a
   * session that would die of silence anyway proves nothing.
   */
  async ended({ alive = true } = {}) {
    const answer = (data) => data.toString() === '2' && this.socket.send('3');
    if (alive) this.socket.on('message', answer);
    await within(LIMIT_MS, 'the end of the connection', () => this.closed);
    return this.inbox.items;
  }

  close() {
    this.socket.terminate();
  }
}
