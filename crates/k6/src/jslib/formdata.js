// jslib.k6.io/formdata: bodies of several parts.
const utf8 = (text) => new TextEncoder().encode(text);
const quoted = (text) => String(text).split('"').join('%22').split('\r').join('%0D').split('\n').join('%0A');

function content(data) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (Array.isArray(data)) return Uint8Array.from(data);
  return utf8(String(data));
}

export class FormData {
  constructor() {
    const random = Array.from({ length: 24 }, () => Math.floor(Math.random() * 36).toString(36)).join('');
    this.boundary = `----FormBoundary${random}`;
    this.parts = [];
  }
  // A text, bytes, or `{ data, filename, content_type }`, which `http.file` gives.
  append(field, value, filename) {
    const isFile = typeof value === 'object' && value !== null && value.data !== undefined;
    const { data, ...file } = isFile ? value : { data: value };
    this.parts.push({ field, data, filename: filename ?? file.filename, type: file.content_type });
  }
  // All parts, as an ArrayBuffer.
  body() {
    const pieces = this.parts.flatMap(({ field, data, filename, type }) => {
      const name = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
      const kind = type ?? (typeof data === 'string' && filename === undefined ? 'text/plain' : 'application/octet-stream');
      const head = [`--${this.boundary}`, `Content-Disposition: form-data; name="${quoted(field)}"${name}`, `Content-Type: ${kind}`];
      return [utf8(`${head.join('\r\n')}\r\n\r\n`), content(data), utf8('\r\n')];
    });
    pieces.push(utf8(`--${this.boundary}--\r\n`));
    const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole.buffer;
  }
}
