// A request's parameters: what a function made of them, as it travels.

/** What of a request's parameters is sent: what has no JSON there is a mistake. The rest is for functions among themselves. */
const SENT = ['url', 'uri', 'method', 'headers', 'qs', 'cookie', 'auth', 'json', 'body', 'form', 'formData', 'target', 'subprotocols', 'options'];

/** The keys of a request's parameters that a function set or changed, and those it deleted. */
function changed({ params, before, message }) {
  const set = [];
  // Behind a request only other functions see them.
  const isSent = message.kind === 'before' || message.kind === 'connect';
  if (isSent) nameType(params);
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined) continue;
    const text = json(key === 'body' ? bytesOrText(value) : value);
    if (text === undefined || isLost(key, value)) {
      if (!isSent || !SENT.includes(key)) continue;
      const got = typeof value === 'object' ? (value.constructor?.name ?? 'an object') : `a ${typeof value}`;
      const rule = key === 'body' ? 'it may be text, a Buffer, a typed array, URLSearchParams or a form with getBuffer()' : 'JSON does not hold all of it';
      throw new TypeError(`the request's \`${key}\` cannot be sent: ${rule}, got ${got}`);
    }
    if (text !== before[key]) set.push(`${JSON.stringify(key)}:${text}`);
  }
  const unset = Object.keys(before).filter((key) => params[key] === undefined);
  return `"params":{"set":{${set.join(',')}},"unset":${JSON.stringify(unset)}}`;
}

/** A request's body as it travels; undefined for what is neither text nor bytes. */
function bytesOrText(body) {
  const bytes = (given) => ({ base64: Buffer.from(given).toString('base64') });
  if (ArrayBuffer.isView(body)) return bytes(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  if (body instanceof ArrayBuffer) return bytes(body);
  if (body instanceof URLSearchParams) return String(body);
  if (typeof body?.getBuffer === 'function') {
    try {
      return bytes(body.getBuffer());
    } catch (trouble) {
      throw new TypeError(`the request's \`body\` cannot be sent: its getBuffer() failed: ${described(trouble).message}`);
    }
  }
  return typeof body === 'object' && body !== null ? undefined : body;
}

/** Whether it has pairs of which JSON shows none. What JSON makes of `json` is what it is for. */
function isLost(key, value) {
  const unseen = [Map, Set, URLSearchParams, Headers, FormData];
  return key !== 'json' && key !== 'body' && unseen.some((kind) => value instanceof kind);
}

/** A form says itself what it is, unless the request does. */
function nameType(params) {
  const { body, headers } = params;
  const isQuery = body instanceof URLSearchParams;
  if (!isQuery && typeof body?.getHeaders !== 'function') return;
  if (Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'content-type')) return;
  const type = isQuery ? 'application/x-www-form-urlencoded;charset=UTF-8' : body.getHeaders()['content-type'];
  params.headers = { ...headers, 'content-type': type };
}

/** What the parameters were, to tell what a function makes of them. */
function noteParams(call) {
  const { params } = call;
  if (!params) return;
  call.before = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, json(value)]));
  // What a function before made of it.
  if (typeof params.body?.base64 === 'string') params.body = Buffer.from(params.body.base64, 'base64');
}
