// TextEncoder and TextDecoder; `native` knows the encodings.
(function (native) {
  const LABELS = {
    'utf-8': 'utf-8',
    utf8: 'utf-8',
    'unicode-1-1-utf-8': 'utf-8',
    'utf-16': 'utf-16le',
    'utf-16le': 'utf-16le',
    'utf-16be': 'utf-16be',
  };
  const bytes = (data) => {
    if (data === undefined) return new Uint8Array(0);
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw new TypeError('decode takes an ArrayBuffer or a view of one');
  };
  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      return new Uint8Array(native.encode(String(text).toWellFormed()));
    }
  }
  class TextDecoder {
    #rest = new Uint8Array(0);
    #begun = false;
    constructor(label = 'utf-8', options = {}) {
      const encoding = LABELS[String(label).trim().toLowerCase()];
      if (encoding === undefined) throw new RangeError(`unsupported encoding: ${label}`);
      this.encoding = encoding;
      this.fatal = Boolean(options.fatal);
      this.ignoreBOM = Boolean(options.ignoreBOM);
    }
    decode(data, options = {}) {
      const given = bytes(data);
      const all = new Uint8Array(this.#rest.length + given.length);
      all.set(this.#rest);
      all.set(given, this.#rest.length);
      const decoded = native.decode(this.encoding, this.fatal, all);
      if (decoded === undefined) throw new TypeError('the data is not valid in this encoding');
      let [text, rest] = decoded;
      if (!this.#begun && !this.ignoreBOM && text.startsWith('\ufeff')) text = text.slice(1);
      this.#begun ||= text.length > 0;
      if (options.stream) {
        this.#rest = all.slice(all.length - rest);
        return text;
      }
      this.#rest = new Uint8Array(0);
      this.#begun = false;
      if (rest === 0) return text;
      if (this.fatal) throw new TypeError('the data ends within a letter');
      return text + '\ufffd';
    }
  }
  return { TextEncoder, TextDecoder };
})
