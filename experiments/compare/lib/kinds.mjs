// The kinds of pairs: what is started for each run, what its load is, and how much longer one side takes.
import { SONAGI } from '../../../interop/support/process.mjs';
import { ready } from '../../bottlenecks/lib/started.mjs';

const file = (name) => new URL(`../${name}`, import.meta.url).pathname;
/** Requests that warm the service up before its run, in turn over one connection. */
const WARM_UP = 300;

/** Starts a program that says where it listens: the address. */
async function address(started, name, argv) {
  const service = started.spawn(argv);
  return ready(name, service, () => service.output().match(/listening on (http:\/\/[\d.]+:\d+)/)?.[1]);
}

/** A Node service whose p99 is known; `slower` 1.1: everything takes a tenth longer. */
const http = {
  script: file('work.yml'),
  primary: 'kinds.http.response_ms.p99',
  async start(started, { seed, slower }) {
    const url = await address(started, 'the service', [process.execPath, file('service.mjs'), seed, slower]);
    for (let request = 0; request < WARM_UP; request += 1) await (await fetch(`${url}/ready`)).text();
    return { url, truth: async () => (await fetch(`${url}/truth`)).json() };
  },
};

/** A room of the reference service over WebSocket; no side is slower. */
const room = {
  script: file('room.yml'),
  primary: 'delivery.latency_ms.p99',
  async start(started) {
    const argv = [SONAGI, 'serve', '--listen', '127.0.0.1:0', '--grace', '0s'];
    return { url: await address(started, 'sonagi serve', argv), truth: async () => undefined };
  },
};

export const KINDS = {
  'http-same': { about: 'a Node service over HTTP, twice', system: http, slower: 1 },
  'room-same': { about: 'a room of `sonagi serve`, twice', system: room, slower: 1 },
  'http-slower': { about: 'the Node service, one side 10 % slower', system: http, slower: 1.1 },
};
