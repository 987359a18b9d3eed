// Plain WebSockets by the `ws` package: joined with `after`, opened anew when they break.
import { WebSocket } from 'ws';
import { within } from '../../support/wait.mjs';
import { opened, Party } from './party.mjs';

const BACK_AFTER_MS = 20;

class Plain extends Party {
  #acknowledged = new Map();
  #sent = 0;

  /** Resolves once the service has let it join. */
  dial() {
    if (this.isClosed) return undefined;
    return new Promise((resolve) => {
      const room = `location:${this.group}`;
      this.socket = new WebSocket(`${this.url.replace('http', 'ws')}/ws`);
      this.socket.on('open', () => this.socket.send(JSON.stringify({ type: 'join', room, after: this.cursor })));
      this.socket.on('message', (text) => this.take(JSON.parse(text), resolve));
      this.socket.on('error', () => {});
      this.socket.on('close', () => this.isClosed || setTimeout(() => this.dial(), BACK_AFTER_MS));
    });
  }

  take(frame, joined) {
    if (frame.type === 'message') return this.hear(frame);
    if (frame.type === 'ack') return this.#acknowledged.get(frame.id)(frame.seq);
    if (frame.type !== 'joined' || frame.gap) this.complain(frame);
    this.cursor ??= frame.seq;
    joined();
  }

  send(content) {
    const id = `${(this.#sent += 1)}`;
    const frame = { type: 'send', room: `location:${this.group}`, content, id };
    return within(5000, 'an acknowledgement', () => {
      this.socket.send(JSON.stringify(frame));
      return new Promise((resolve) => this.#acknowledged.set(id, resolve));
    });
  }

  close() {
    this.isClosed = true;
    this.socket.terminate();
  }
}

export function websocket(url, group) {
  const party = new Plain(url, group);
  return opened(party, 'the room', () => party.dial());
}
