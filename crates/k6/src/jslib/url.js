// jslib.k6.io/url: URL and URLSearchParams as browsers have them, but for names of hosts that are not
// ASCII, which stay as they are.
const PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const percent = (letter) => {
  const encoded = encodeURIComponent(letter.toWellFormed());
  return encoded.length > 1 ? encoded : `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
};
// Letters above ASCII, control letters and those of `marks` are written as percent triples.
const encoded = (text, marks) => Array.from(text, (letter) => (letter > '~' || letter < '!' || marks.includes(letter) ? percent(letter) : letter)).join('');
const IN_PATH = '"#<>?`{}';
const IN_QUERY = '"#<>\'';
const IN_FRAGMENT = '"<>`';
const IN_USER = '"#<>?`{}/:;=@[\\]^|';

const decoded = (text) => {
  const spaced = text.split('+').join(' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    // A triple that is none stays; the others are taken one by one.
    return spaced.split('%').map((part, at) => {
      if (at === 0) return part;
      try {
        return decodeURIComponent(`%${part.slice(0, 2)}`) + part.slice(2);
      } catch {
        return `%${part}`;
      }
    }).join('');
  }
};
const formed = (text) => Array.from(String(text).toWellFormed(), (letter) => {
  if (letter === ' ') return '+';
  return UNRESERVED.includes(letter) || '*-._'.includes(letter) ? letter : percent(letter);
}).join('');

export class URLSearchParams {
  #pairs = [];
  #changed = () => {};
  constructor(init = '') {
    if (typeof init === 'object' && init !== null) {
      const pairs = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init);
      for (const pair of pairs) {
        if (pair.length !== 2) throw new TypeError('each pair must have a name and a value');
        this.#pairs.push([String(pair[0]), String(pair[1])]);
      }
    } else {
      this.#read(String(init));
    }
  }
  #read(text) {
    const bare = text.startsWith('?') ? text.slice(1) : text;
    this.#pairs = bare.split('&').filter(Boolean).map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [decoded(pair), ''] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))];
    });
  }
  // The parameters of a URL: they are read anew when it changes, and tell it of changes of their own.
  static of(search, changed) {
    const params = new URLSearchParams(search);
    params.#changed = changed;
    return params;
  }
  static reread(params, search) {
    params.#read(search);
  }
  get size() {
    return this.#pairs.length;
  }
  append(name, value) {
    this.#pairs.push([String(name), String(value)]);
    this.#changed();
  }
  delete(name, value) {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
    this.#changed();
  }
  get(name) {
    return this.#pairs.find((pair) => pair[0] === String(name))?.[1] ?? null;
  }
  getAll(name) {
    return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]);
  }
  has(name, value) {
    return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
  }
  set(name, value) {
    const at = this.#pairs.findIndex((pair) => pair[0] === String(name));
    if (at < 0) return this.append(name, value);
    this.#pairs = this.#pairs.filter((pair, place) => place <= at || pair[0] !== String(name));
    this.#pairs[at][1] = String(value);
    return this.#changed();
  }
  sort() {
    this.#pairs.sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
    this.#changed();
  }
  forEach(visit, self) {
    for (const [name, value] of this) visit.call(self, value, name, this);
  }
  *entries() {
    for (let at = 0; at < this.#pairs.length; at += 1) yield [...this.#pairs[at]];
  }
  *keys() {
    for (const [name] of this.entries()) yield name;
  }
  *values() {
    for (const [, value] of this.entries()) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  toString() {
    return this.#pairs.map(([name, value]) => `${formed(name)}=${formed(value)}`).join('&');
  }
}

const invalid = (text) => new TypeError(`Invalid URL: ${text}`);
const split = (text, mark) => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
};
// The scheme with its colon, in small letters; undefined if there is none.
function schemeOf(text) {
  const [scheme, rest] = split(text, ':');
  const letters = Array.from(scheme.toLowerCase());
  const isOne = rest !== undefined && letters.length > 0 && letters[0] >= 'a' && letters[0] <= 'z' && letters.every((letter) => UNRESERVED.includes(letter) || '+-.'.includes(letter));
  return isOne ? `${scheme.toLowerCase()}:` : undefined;
}
// Without `.` and `..`.
function straight(path) {
  const out = [];
  const parts = path.split('/');
  parts.forEach((part, at) => {
    const name = part.toLowerCase().split('%2e').join('.');
    const isLast = at === parts.length - 1;
    if (name === '..') {
      if (out.length > 1) out.pop();
      if (isLast) out.push('');
    } else if (name !== '.') {
      out.push(part);
    } else if (isLast) {
      out.push('');
    }
  });
  return out.join('/');
}

function authority(parts, text, whole) {
  const at = text.lastIndexOf('@');
  if (at >= 0) {
    const [username, password = ''] = split(text.slice(0, at), ':');
    parts.username = encoded(username, IN_USER);
    parts.password = encoded(password, IN_USER);
  }
  hostAndPort(parts, text.slice(at + 1), whole);
}
function hostAndPort(parts, text, whole) {
  const colon = text.lastIndexOf(':');
  const hasPort = colon >= 0 && !text.slice(colon).includes(']');
  const [name, port] = hasPort ? [text.slice(0, colon), text.slice(colon + 1)] : [text, ''];
  const isSpecial = PORTS[parts.protocol] !== undefined;
  if ((name === '' && isSpecial && parts.protocol !== 'file:') || Array.from(name).some((letter) => ' #/<>?@\\^|'.includes(letter))) throw invalid(whole);
  if (Array.from(port).some((digit) => digit < '0' || digit > '9') || Number(port) > 65535) throw invalid(whole);
  parts.hostname = isSpecial ? decoded(name.split('+').join('%2B')).toLowerCase() : name;
  parts.port = port === '' || String(Number(port)) === PORTS[parts.protocol] ? '' : String(Number(port));
}

function parsed(text, base) {
  const [bare, hash] = split(text, '#');
  const [reference, query] = split(bare, '?');
  const parts = { protocol: '', username: '', password: '', hostname: undefined, port: '', pathname: '', search: '', hash: '' };
  const scheme = schemeOf(reference);
  if (scheme === undefined && base === undefined) throw invalid(text);
  const isOfBase = scheme === undefined || (base !== undefined && scheme === base.protocol && PORTS[scheme] !== undefined && !reference.slice(scheme.length).startsWith('/'));
  parts.protocol = isOfBase ? base.protocol : scheme;
  const isSpecial = PORTS[parts.protocol] !== undefined;
  let rest = scheme === undefined ? reference : reference.slice(scheme.length);
  if (isSpecial) rest = rest.split('\\').join('/');
  let path = rest;
  if (rest.startsWith('//') || (isSpecial && !isOfBase)) {
    let from = 0;
    while (rest[from] === '/' && (isSpecial || from < 2)) from += 1;
    if (parts.protocol === 'file:') from = Math.min(from, 2);
    const end = rest.indexOf('/', from);
    authority(parts, end < 0 ? rest.slice(from) : rest.slice(from, end), text);
    path = end < 0 ? '' : rest.slice(end);
  } else if (isOfBase) {
    if (base.hostname === undefined && !base.pathname.startsWith('/')) throw invalid(text);
    const { username, password, hostname, port } = base;
    Object.assign(parts, { username, password, hostname, port });
    if (path === '') {
      path = base.pathname;
      if (query === undefined) parts.search = base.search;
    } else if (!path.startsWith('/')) {
      path = base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1) + path;
    }
  }
  if (isSpecial || path.startsWith('/')) path = straight(path.startsWith('/') ? path : `/${path}`);
  parts.pathname = encoded(path, IN_PATH);
  if (query) parts.search = `?${encoded(query, isSpecial ? IN_QUERY : '"#<>')}`;
  if (hash) parts.hash = `#${encoded(hash, IN_FRAGMENT)}`;
  return parts;
}

const trimmed = (text) => {
  let [from, to] = [0, text.length];
  while (from < to && text[from] <= ' ') from += 1;
  while (to > from && text[to - 1] <= ' ') to -= 1;
  return text.slice(from, to).split('\t').join('').split('\n').join('').split('\r').join('');
};

export class URL {
  #parts;
  #params;
  constructor(url, base) {
    this.#parts = parsed(trimmed(String(url)), base === undefined ? undefined : parsed(trimmed(String(base))));
    this.#params = URLSearchParams.of(this.#parts.search, () => {
      const text = this.#params.toString();
      this.#parts.search = text === '' ? '' : `?${text}`;
    });
  }
  static canParse(url, base) {
    try {
      return Boolean(new URL(url, base));
    } catch {
      return false;
    }
  }
  get href() {
    const { protocol, username, password, hostname, pathname, search, hash } = this.#parts;
    const who = username === '' && password === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`;
    return `${protocol}${hostname === undefined ? '' : `//${who}${this.host}`}${pathname}${search}${hash}`;
  }
  set href(value) {
    this.#parts = parsed(trimmed(String(value)));
    URLSearchParams.reread(this.#params, this.#parts.search);
  }
  get origin() {
    const { protocol } = this.#parts;
    return PORTS[protocol] ? `${protocol}//${this.host}` : 'null';
  }
  get protocol() {
    return this.#parts.protocol;
  }
  set protocol(value) {
    const scheme = schemeOf(`${String(value).split(':')[0]}:`);
    if (scheme === undefined || (PORTS[scheme] === undefined) !== (PORTS[this.#parts.protocol] === undefined)) return;
    this.#parts.protocol = scheme;
    if (this.#parts.port === PORTS[scheme]) this.#parts.port = '';
  }
  get username() {
    return this.#parts.username;
  }
  set username(value) {
    this.#parts.username = encoded(String(value), IN_USER);
  }
  get password() {
    return this.#parts.password;
  }
  set password(value) {
    this.#parts.password = encoded(String(value), IN_USER);
  }
  get host() {
    const { hostname = '', port } = this.#parts;
    return port === '' ? hostname : `${hostname}:${port}`;
  }
  // A host that is none is ignored.
  #take(text) {
    const parts = { ...this.#parts };
    try {
      hostAndPort(parts, text, text);
      this.#parts = parts;
    } catch {}
  }
  set host(value) {
    const text = String(value);
    const hasPort = text.includes(':') && !text.endsWith(']');
    this.#take(hasPort || this.#parts.port === '' ? text : `${text}:${this.#parts.port}`);
  }
  get hostname() {
    return this.#parts.hostname ?? '';
  }
  set hostname(value) {
    this.#take(this.#parts.port === '' ? String(value) : `${value}:${this.#parts.port}`);
  }
  get port() {
    return this.#parts.port;
  }
  set port(value) {
    this.#take(`${this.hostname}:${value}`);
  }
  get pathname() {
    return this.#parts.pathname;
  }
  set pathname(value) {
    const path = String(value);
    this.#parts.pathname = encoded(straight(path.startsWith('/') ? path : `/${path}`), IN_PATH);
  }
  get search() {
    return this.#parts.search;
  }
  set search(value) {
    const text = String(value).startsWith('?') ? String(value).slice(1) : String(value);
    this.#parts.search = text === '' ? '' : `?${encoded(text, IN_QUERY)}`;
    URLSearchParams.reread(this.#params, this.#parts.search);
  }
  get searchParams() {
    return this.#params;
  }
  get hash() {
    return this.#parts.hash;
  }
  set hash(value) {
    const text = String(value).startsWith('#') ? String(value).slice(1) : String(value);
    this.#parts.hash = text === '' ? '' : `#${encoded(text, IN_FRAGMENT)}`;
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
}
