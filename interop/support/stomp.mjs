// The STOMP client of browsers, with its callbacks turned into things to wait for.
import { Client, Versions } from '@stomp/stompjs';
import { WebSocket } from 'ws';
import { Inbox, within } from './wait.mjs';

// It takes the browser's; here it is lent one.
globalThis.WebSocket = WebSocket;

const LIMIT_MS = 10_000;

/** One `Client` of @stomp/stompjs; `config` is its own. It comes back after a lost connection only when told to. */
export class StompPeer {
  #receipts = 0;

  constructor({ versions = ['1.2', '1.1', '1.0'], ...config }) {
    /** CONNECTED frames, one for each connection. */
    this.greetings = new Inbox();
    /** What ends connections, in order: `{ error }`, a frame, and `{ close }`, a code. */
    this.endings = new Inbox();
    this.client = new Client({
      stompVersions: new Versions(versions),
      reconnectDelay: 0,
      heartbeatIncoming: 0,
      heartbeatOutgoing: 0,
      onStompError: (error) => this.endings.push({ error }),
      onWebSocketClose: ({ code, reason }) => this.endings.push({ close: code, reason }),
      ...config,
      onConnect: (frame) => {
        config.onConnect?.(this);
        this.greetings.push(frame);
      },
    });
  }

  /** Connects: the CONNECTED frame's headers. */
  async open() {
    this.client.activate();
    const [{ headers }] = await this.greetings.first(1);
    return headers;
  }

  /** The RECEIPT's headers of the frame that `send` sends with these headers. */
  async receipt(send) {
    this.#receipts += 1;
    const id = `receipt ${this.#receipts}`;
    const wait = () => new Promise((resolve) => (this.client.watchForReceipt(id, resolve), send({ receipt: id })));
    return (await within(LIMIT_MS, id, wait)).headers;
  }

  /** Subscribes, and returns when that is done: an inbox of `{ seq, message, frame }`. */
  async listen(destination, headers) {
    const heard = new Inbox();
    const hear = (frame) => heard.push({ seq: Number(frame.headers.seq), message: JSON.parse(frame.body), frame });
    heard.receipt = await this.receipt((receipt) => {
      heard.subscription = this.client.subscribe(destination, hear, { ...headers, ...receipt });
    });
    return heard;
  }

  /** Shares something with a location group, and returns when it is published. */
  share(group, content, headers) {
    const frame = { destination: `/pub/share/${group}`, body: JSON.stringify(content) };
    return this.receipt((receipt) => this.client.publish({ ...frame, headers: { ...headers, ...receipt } }));
  }

  /** The ERROR that the connection ended with: `{ code, close, receipt, headers, body }`. */
  async refusal() {
    const [{ error }, { close }] = await this.endings.first(2);
    const { headers, body } = error ?? { headers: {} };
    return { code: headers.code, close, receipt: headers['receipt-id'], headers, body };
  }

  /** Ends it without a farewell. */
  drop() {
    return this.client.deactivate({ force: true });
  }
}
