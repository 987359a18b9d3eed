// Socket.IO by the official client: a session that was not recovered joins again, with `after`.
import { io } from 'socket.io-client';
import { opened, Party } from './party.mjs';

class Socketio extends Party {
  /** Sessions that the service knew again. */
  recoveries = 0;

  constructor(url, group) {
    super(url, group);
    this.roomId = `location:${group}`;
    // A connection that ends in the middle of its handshake is nothing to this client until its time to open is over.
    const delays = { reconnectionDelay: 5, reconnectionDelayMax: 50, timeout: 500 };
    this.socket = io(url, { transports: ['websocket'], forceNew: true, autoConnect: false, ...delays });
    this.socket.on('newMessage', (message) => this.hear(message));
    this.socket.on('exception', (exception) => this.complain(exception));
  }

  async join() {
    if (this.socket.recovered) return (this.recoveries += 1);
    const joined = await this.ask('joinRoom', { roomId: this.roomId, after: this.cursor });
    if (!joined.ok || joined.gap) this.complain(joined);
    return (this.cursor ??= joined.seq);
  }

  ask(event, argument) {
    return this.socket.timeout(5000).emitWithAck(event, argument);
  }

  async send(content) {
    const sent = await this.ask('sendMessage', { roomId: this.roomId, content });
    if (!sent.ok) throw new Error(`sendMessage: ${JSON.stringify(sent)}`);
    return sent.seq;
  }

  close() {
    this.socket.disconnect();
  }
}

export function socketio(url, group) {
  const party = new Socketio(url, group);
  return opened(party, 'the room', () => new Promise((resolve, reject) => {
    // A join that its connection did not outlive is taken again with the next one.
    party.socket.on('connect', () => party.join().then(resolve, () => {}));
    party.socket.on('connect_error', ({ data }) => data && reject(new Error(JSON.stringify(data))));
    party.socket.connect();
  }));
}
