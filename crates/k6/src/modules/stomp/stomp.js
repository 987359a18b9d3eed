// k6/x/stomp: what scripts see of a session, under the extension's names; `native` speaks.
(function (native) {
  // A frame's headers, as Go's library has them: `contains` and `getAt` give two values.
  class Header {
    #all;
    constructor(all) {
      this.#all = all;
    }
    #at(name) {
      const all = this.#all;
      for (let at = 0; at < all.length; at += 2) if (all[at] === name) return at;
      return -1;
    }
    get(name) {
      const at = this.#at(name);
      return at < 0 ? '' : this.#all[at + 1];
    }
    contains(name) {
      const at = this.#at(name);
      return at < 0 ? ['', false] : [this.#all[at + 1], true];
    }
    getAll(name) {
      return this.#all.filter((_, at) => at % 2 === 1 && this.#all[at - 1] === name);
    }
    getAt(index) {
      return [this.#all[2 * index], this.#all[2 * index + 1]];
    }
    len() {
      return this.#all.length / 2;
    }
    add(name, value) {
      this.#all.push(String(name), String(value));
    }
    set(name, value) {
      const at = this.#at(name);
      if (at < 0) this.add(name, value);
      else this.#all[at + 1] = String(value);
    }
    del(name) {
      for (let at = this.#at(name); at >= 0; at = this.#at(name)) this.#all.splice(at, 2);
    }
    toJSON() {
      const shown = {};
      for (let at = this.#all.length - 2; at >= 0; at -= 2) shown[this.#all[at]] = this.#all[at + 1];
      return shown;
    }
  }

  class Message {
    #buffer;
    #pairs;
    constructor(subscription, buffer, pairs) {
      this.#buffer = buffer;
      this.#pairs = pairs;
      this.header = new Header(pairs);
      this.destination = this.header.get('destination');
      this.content_type = this.header.get('content-type');
      this.body = new Uint8Array(buffer);
      this.subscription = subscription;
    }
    string() {
      return native.text(this.#buffer);
    }
    json(selector) {
      return native.json(this.#buffer, selector);
    }
    shouldAck() {
      return this.subscription.ackMode() !== 'auto';
    }
    // ACK or NACK of it, within a transaction if there is one.
    static settle(session, command, message, transaction) {
      if (message === null || message === undefined) return;
      if (!(message instanceof Message)) native.fail('cannot ack/nack a message, not from server');
      native.settle(session, command, message.subscription.id(), message.#pairs, transaction);
    }
  }

  class Subscription {
    #session;
    #id;
    #destination;
    #ack;
    #heard;
    constructor(session, destination, { ack = 'auto', headers, id, listener, error }) {
      this.#session = session;
      this.#destination = destination;
      this.#ack = ack || 'auto';
      this.#id = native.subscribe(session, destination, this.#ack, id, headers);
      if (typeof listener !== 'function') return;
      this.#heard = (why, buffer, pairs) => {
        if (why === undefined) return listener(new Message(this, buffer, pairs));
        if (typeof error !== 'function') native.fail(why);
        error({ error: why });
      };
      this.continue();
    }
    id() {
      return this.#id;
    }
    destination() {
      return this.#destination;
    }
    ackMode() {
      return this.#ack;
    }
    active() {
      return native.active(this.#session, this.#id);
    }
    // The listener gets one message; who wants the next says so.
    continue() {
      if (this.#heard) native.listen(this.#session, this.#id, this.#heard);
    }
    read() {
      return new Message(this, ...native.read(this.#session, this.#id));
    }
    unsubscribe() {
      native.unsubscribe(this.#session, this.#id);
    }
    toJSON() {
      return { id: this.#id, destination: this.#destination };
    }
  }

  class Transaction {
    #session;
    #id;
    constructor(session) {
      this.#session = session;
      this.#id = native.begin(session);
    }
    id() {
      return this.#id;
    }
    send(destination, contentType, body, options) {
      native.send(this.#session, String(destination), contentType, body, options, this.#id);
    }
    ack(message) {
      Message.settle(this.#session, 'ACK', message, this.#id);
    }
    nack(message) {
      Message.settle(this.#session, 'NACK', message, this.#id);
    }
    commit() {
      native.complete(this.#session, 'COMMIT', this.#id);
    }
    abort() {
      native.complete(this.#session, 'ABORT', this.#id);
    }
  }

  class Client {
    #session;
    constructor(options) {
      this.#session = native.connect(options);
    }
    send(destination, contentType, body, options) {
      native.send(this.#session, String(destination), contentType, body, options, undefined);
    }
    subscribe(destination, options) {
      if (native.hasLeft(this.#session)) return null;
      const wanted = typeof options === 'string' ? { ack: options } : options;
      return new Subscription(this.#session, String(destination), wanted ?? {});
    }
    ack(message) {
      Message.settle(this.#session, 'ACK', message, undefined);
    }
    nack(message) {
      Message.settle(this.#session, 'NACK', message, undefined);
    }
    server() {
      return native.connected(this.#session, 'server');
    }
    session() {
      return native.connected(this.#session, 'session');
    }
    begin() {
      return new Transaction(this.#session);
    }
    beginWithError() {
      return new Transaction(this.#session);
    }
    disconnect() {
      native.disconnect(this.#session);
    }
  }

  return { connect: (options) => new Client(options), Client };
});
