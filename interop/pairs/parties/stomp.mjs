// STOMP by `@stomp/stompjs`, on a plain WebSocket and in SockJS: the client reconnects by itself, and subscribes with
// `after` whenever it is connected.
import { Client } from '@stomp/stompjs';
import SockJS from 'sockjs-client';
import InfoReceiver from 'sockjs-client/lib/info-receiver.js';
import { WebSocket } from 'ws';
import { within } from '../../support/wait.mjs';
import { opened, Party } from './party.mjs';

const BACK_AFTER_MS = 20;

// When the answer that SockJS begins with breaks off, the client does not see it until its time for that is over: 8 s.
InfoReceiver.timeout = 500;

class Stomp extends Party {
  #receipts = 0;

  constructor(url, group, webSocketFactory) {
    super(url, group);
    this.client = new Client({ webSocketFactory, reconnectDelay: BACK_AFTER_MS });
    this.client.onStompError = ({ headers, body }) => this.complain({ headers, body });
  }

  subscribe(subscribed) {
    const receipt = this.receipt(({ seq, gap }) => {
      if (gap) this.complain({ gap });
      this.cursor ??= Number(seq);
      subscribed();
    });
    const after = this.cursor === undefined ? {} : { after: `${this.cursor}` };
    this.client.subscribe(`/sub/location/${this.group}`, (message) => this.take(message), { receipt, ...after });
  }

  take({ headers, body }) {
    const message = JSON.parse(body);
    if (headers.seq !== `${message.seq}`) this.complain({ headers, body });
    this.hear(message);
  }

  receipt(kept) {
    const id = `receipt-${(this.#receipts += 1)}`;
    this.client.watchForReceipt(id, ({ headers }) => kept(headers));
    return id;
  }

  /** Resolves once it is stored and published; a receipt does not say under which number. */
  async send(content) {
    const destination = `/pub/share/${this.group}`;
    await within(5000, 'a receipt', () => new Promise((resolve) => {
      this.client.publish({ destination, body: JSON.stringify(content), headers: { receipt: this.receipt(resolve) } });
    }));
  }

  close() {
    return this.client.deactivate({ force: true });
  }
}

function begin(url, group, webSocketFactory) {
  const party = new Stomp(url, group, webSocketFactory);
  return opened(party, 'the subscription', () => new Promise((resolve) => {
    party.client.onConnect = () => party.subscribe(resolve);
    party.client.activate();
  }));
}

const PROTOCOLS = ['v10.stomp', 'v11.stomp', 'v12.stomp'];

export const stomp = (url, group) =>
  begin(url, group, () => new WebSocket(`${url.replace('http', 'ws')}/location`, PROTOCOLS));

/** Its WebSocket transport; the others come in when there are no WebSockets. */
export const sockjs = (url, group) =>
  begin(url, group, () => new SockJS(`${url}/location`, null, { transports: ['websocket'] }));
