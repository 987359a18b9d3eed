// k6/websockets: the WebSocket of browsers, as far as k6 has it. `open(url, protocols, params, tell)` gives what a socket does
// ([`Socket`]), `fail(message)` throws as k6's Go does, `warn` logs, `text` decodes bytes, `streams()` is k6/experimental/streams.
//
// A script that names nothing binary has no ArrayBuffer and no typed arrays, and none at all is sure to have RegExp: what is
// reached without the script's naming it does without.
(function (open, fail, warn, text, streams) {
  const TYPES = ['open', 'message', 'error', 'close', 'ping', 'pong'];
  const bytesOf = (value) => {
    if (value instanceof Blob) return value[BYTES];
    if (typeof ArrayBuffer === 'undefined') return undefined;
    if (value instanceof ArrayBuffer) return value;
    if (!ArrayBuffer.isView(value)) return undefined;
    return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
  };

  const BYTES = Symbol('bytes');
  class Blob {
    constructor(parts = [], options = undefined) {
      if (options !== undefined && (options === null || typeof options !== 'object')) fail('[options] must be an object');
      const all = [...parts].map((part) => (typeof part === 'string' ? text.encoded(part) : bytesOf(part)) ?? fail(`failed to process [blobParts]: unsupported type: ${typeof part}`));
      const whole = new Uint8Array(all.reduce((sum, part) => sum + part.byteLength, 0));
      let at = 0;
      for (const part of all) {
        whole.set(new Uint8Array(part), at);
        at += part.byteLength;
      }
      fill(this, whole.buffer, whole.length, options?.type === undefined ? '' : String(options.type));
    }
    async arrayBuffer() { return this[BYTES].slice(0); }
    async bytes() { return new Uint8Array(this[BYTES].slice(0)); }
    async text() { return text.decoded(this[BYTES]); }
    // k6's gives its bytes as a text.
    stream() {
      const start = (controller) => {
        if (this.size > 0) controller.enqueue(text.decoded(this[BYTES]));
        controller.close();
      };
      return new (streams().ReadableStream)({ start });
    }
    slice(from = 0, to = this.size, type = '') { return new Blob([this[BYTES].slice(from, to)], { type }); }
    toString() { return '[object Blob]'; }
  }

  const fill = (blob, bytes, size, type) => Object.defineProperties(blob, {
    [BYTES]: { value: bytes },
    type: { value: type, enumerable: true },
    size: { value: size, enumerable: true },
  });

  class WebSocket {
    // QuickJS forgets an object's shape with the last object of it, and builds it anew, property by property, for the next. These
    // keep that of a message's event, and those on the way there.
    static #shapes = [
      { type: 0 },
      { type: 0, target: 0 },
      { type: 0, target: 0, timestamp: 0 },
      { type: 0, target: 0, timestamp: 0, data: 0 },
      { type: 0, target: 0, timestamp: 0, data: 0, origin: 0 },
    ];

    constructor(url, protocols, params) {
      if (url === undefined || url === null) fail('WebSocket requires a url');
      const address = String(url);
      const colon = address.indexOf(':');
      const scheme = colon < 0 ? '' : address.slice(0, colon).toLowerCase();
      if (scheme !== 'ws' && scheme !== 'wss') fail(`WebSocket requires url with scheme ws or wss, but got "${scheme}"`);
      const fragment = address.indexOf('#');
      if (fragment >= 0 && fragment + 1 < address.length) fail(`WebSocket requires no url fragment, but got "${address.slice(fragment + 1)}"`);
      const offered = typeof protocols === 'string' ? [protocols] : Array.isArray(protocols) ? protocols.map(String) : [];
      // The handler of `on…` stands first.
      const own = Object.fromEntries(TYPES.map((type) => [type, [undefined]]));
      let [state, binaryType, protocol, extensions, code] = [0, 'blob', '', [], 0];

      const target = this;
      const event = (type, more) => ({ type, target, timestamp: Date.now(), ...more });
      const call = (type, given) => {
        const listeners = own[type];
        for (let at = 0; at < listeners.length; at += 1) {
          const listener = listeners[at];
          if (listener) listener(given);
        }
      };
      const end = (error, reason) => {
        if (state === 3) return;
        state = 3;
        if (error !== undefined) call('error', event('error', { error }));
        call('close', event('close', code ? { code, reason } : { reason }));
      };
      // An exception of a listener ends the socket, and then the iteration.
      const thrown = (error) => {
        socket.drop();
        const place = String(error?.stack ?? '').split('\n')[0].trim();
        end(`${error} ${place}`.trim(), '');
        throw error;
      };
      const messages = own.message;
      const socket = open(address, offered, params, {
        opened(chosen, extended) {
          if (state !== 0) return;
          [state, protocol, extensions] = [1, chosen, extended];
          try {
            call('open', event('open'));
          } catch (error) {
            thrown(error);
          }
        },
        // Each of a thousand users comes to it with a cold cache: it calls nothing but the listeners.
        message(data, timestamp, size) {
          if (state !== 1) return;
          const given = size === undefined || binaryType === 'arraybuffer' ? data : fill(Object.create(Blob.prototype), data, size, '');
          const event = { type: 'message', target, timestamp, data: given, origin: address };
          try {
            for (let at = 0; at < messages.length; at += 1) {
              const listener = messages[at];
              if (listener) listener(event);
            }
          } catch (error) {
            thrown(error);
          }
        },
        told: (type) => call(type, event(type)),
        ended(error, given, reason) {
          if (given) code = given;
          end(error, reason);
        },
      });
      const opened = () => state === 1 || fail('InvalidStateError');
      const fixed = (name, value) => Object.defineProperty(this, name, { value, enumerable: true });
      const live = (name, get, set) => Object.defineProperty(this, name, { get, set, enumerable: true });
      fixed('addEventListener', (type, listener) => {
        if (typeof listener !== 'function') fail(`handler for event type "${type}" isn't a callable function`);
        if (own[type]) own[type].push(listener);
        else warn(`can't add event handler: unknown event type: ${type}`);
      });
      fixed('send', (data) => {
        opened();
        if (typeof data === 'string') return socket.send(data);
        const bytes = data !== null && typeof data === 'object' ? bytesOf(data) : undefined;
        return bytes ? socket.send(bytes) : fail(`unsupported send type ${typeof data}`);
      });
      fixed('ping', () => { opened(); socket.ping(); });
      fixed('close', (given, reason) => {
        if (state >= 2) return;
        const wanted = given === undefined ? 0 : Math.trunc(Number(given)) || 0;
        if (wanted !== 0 && wanted !== 1000 && !(wanted >= 3000 && wanted <= 4999)) fail(`InvalidAccessError: the close code must be 1000 or between 3000 and 4999, got ${wanted}`);
        const words = reason === undefined ? '' : String(reason);
        if (text.size(words) > 123) fail('SyntaxError: the reason must not be longer than 123 bytes');
        [state, code] = [2, wanted || 1000];
        socket.close(code, words);
      });
      fixed('url', address);
      live('readyState', () => state);
      live('bufferedAmount', () => socket.buffered());
      live('extensions', () => extensions);
      live('protocol', () => protocol);
      live('binaryType', () => binaryType, (type) => {
        if (type !== 'blob' && type !== 'arraybuffer') fail(`unknown binaryType ${type}, the supported ones are "blob" and "arraybuffer"`);
        binaryType = type;
      });
      for (const type of TYPES) {
        live(`on${type}`, () => own[type][0], (listener) => {
          if (listener !== undefined && listener !== null && typeof listener !== 'function') fail(`a value for 'on${type}' should be callable`);
          own[type][0] = listener ?? undefined;
        });
      }
    }
  }

  return { WebSocket, Blob };
})
