// What the contract's tests need of a server and its clients: start one, talk to it, wait for what comes. Every wait ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const PATIENCE_MS = 10_000;

const within = (promise, what) => {
  let overdue;
  const late = new Promise((_, reject) => (overdue = setTimeout(() => reject(new Error(`no ${what} within ${PATIENCE_MS} ms`)), PATIENCE_MS)));
  return Promise.race([promise, late]).finally(() => clearTimeout(overdue));
};

/** Starts a server: `{ url, stop }`; `stop` sends SIGTERM and says whether that ended it. */
export async function start(argv) {
  const child = spawn(argv[0], argv.slice(1).map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    const overdue = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    const [code, signal] = await ended;
    clearTimeout(overdue);
    return signal !== 'SIGKILL' && (code === 0 || signal === 'SIGTERM' || code === 143);
  };
  const lines = createInterface(child.stdout);
  const gone = ended.then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  try {
    const [first] = await within(Promise.race([once(lines, 'line'), gone]), 'first line');
    const found = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(first);
    if (!found) throw new Error(`the first line is ${first}`);
    gone.catch(() => {});
    return { url: found[1], stop };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** An open WebSocket: `next()` is the next frame, text as a string and binary as a Buffer; pings are answered by the runtime. */
export async function open(url) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  socket.binaryType = 'arraybuffer';
  const frames = [];
  const waiting = [];
  socket.onmessage = ({ data }) => {
    const frame = typeof data === 'string' ? data : Buffer.from(data);
    if (waiting.length > 0) waiting.shift()(frame);
    else frames.push(frame);
  };
  await within(new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: () => reject(new Error(`no upgrade at ${url}`)) })), 'upgrade');
  const next = () => (frames.length > 0 ? Promise.resolve(frames.shift()) : within(new Promise((resolve) => waiting.push(resolve)), 'frame'));
  return { send: (frame) => socket.send(frame), next, close: () => socket.close() };
}

/** A member of a room at `/ws`: `say(frame)` sends JSON, `hear(type)` is the text of the next frame of that type. */
export async function member(url) {
  const socket = await open(url);
  const missed = [];
  const hear = async (type) => {
    const ours = (text) => JSON.parse(text).type === type;
    const at = missed.findIndex(ours);
    if (at >= 0) return missed.splice(at, 1)[0];
    for (;;) {
      const text = await socket.next();
      if (ours(text)) return text;
      missed.push(text);
    }
  };
  return { hear, say: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)), close: socket.close };
}

/** A Socket.IO session on a WebSocket: `ask(event, argument)` is what it is acknowledged with, `heard(event)` the next one's arguments. */
export async function session(url, auth = {}) {
  const socket = await open(`${url}/socket.io/?EIO=4&transport=websocket`);
  const missed = [];
  let asked = 0;
  const packet = async (prefix) => {
    const at = missed.findIndex((text) => text.startsWith(prefix));
    if (at >= 0) return missed.splice(at, 1)[0].slice(prefix.length);
    for (;;) {
      const text = await socket.next();
      if (text.startsWith(prefix)) return text.slice(prefix.length);
      if (text === '2') socket.send('3');
      else missed.push(text);
    }
  };
  await packet('0');
  socket.send(`40${JSON.stringify(auth)}`);
  await packet('40');
  return {
    ask: async (event, argument) => {
      const id = asked++;
      socket.send(`42${id}${JSON.stringify([event, argument])}`);
      return JSON.parse(await packet(`43${id}[`).then((rest) => `[${rest}`))[0];
    },
    tell: (event, argument) => socket.send(`42${JSON.stringify([event, argument])}`),
    heard: async (event) => JSON.parse(`[${await packet(`42["${event}",`)}`)[0],
    close: socket.close,
  };
}
