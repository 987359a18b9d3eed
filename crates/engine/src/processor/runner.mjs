// The processor's side of a run: loads the script's functions and calls them for the users of one shard.
//
// It speaks with the engine over the socket it was given as standard input: frames of four bytes of length (little-endian)
// and a JSON list of messages. When that socket closes, the run is over, and so is this process. What a user's variables
// are is known on both sides; only what changed travels.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import nodeModule, { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format } from 'node:util';

/** Lines of the log that may wait for the engine; further ones are dropped, and counted. */
const LINES_MAX = 10_000;

const socket = new Socket({ fd: 0, readable: true, writable: true, allowHalfOpen: true });
const users = new Map();
const calls = new Map();
const doneTwice = new Set();
/** Whose call is under way: an exception in a timer or a promise nobody waits for belongs to it. */
const current = new AsyncLocalStorage();
let functions = {};
let outbox = [];
let lines = 0;
let dropped = 0;

function tell(message) {
  if (outbox.push(message) === 1) setImmediate(flush);
}

function flush() {
  if (outbox.length === 0) return;
  if (dropped > 0) outbox.push({ is: 'log', stream: 'error', text: `${dropped} lines were dropped: they came faster than they can be printed` });
  const text = Buffer.from(JSON.stringify(outbox));
  outbox = [];
  dropped = 0;
  const head = Buffer.alloc(4);
  head.writeUInt32LE(text.length);
  socket.write(Buffer.concat([head, text]), () => (lines = 0));
}

function log(stream, values) {
  if (lines >= LINES_MAX) return void (dropped += 1);
  lines += 1;
  tell({ is: 'log', stream, text: format(...values) });
}

for (const [name, stream] of [['log', 'out'], ['info', 'out'], ['debug', 'out'], ['trace', 'out'], ['dir', 'out'], ['warn', 'error'], ['error', 'error']]) {
  console[name] = (...values) => log(stream, values);
}

/** JSON of a value; undefined for what has none (functions, cycles). */
function json(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** One virtual user's context, and what the engine knows of its variables. */
class User {
  #known = new Map();

  constructor(scenario) {
    this.context = { vars: {}, scenario, funcs: functionsOf(this) };
  }

  /** Takes over what changed on the engine's side. */
  learn({ set = {}, unset = [] }) {
    const { vars } = this.context;
    for (const [name, value] of Object.entries(set)) {
      vars[name] = value;
      this.#known.set(name, json(value));
    }
    for (const name of unset) {
      delete vars[name];
      this.#known.delete(name);
    }
    this.context._uid ??= vars.$uuid;
  }

  /** What changed on this side since: by text, for a function may change an object in place. */
  changes() {
    const vars = this.context.vars ?? {};
    const set = {};
    for (const [name, value] of Object.entries(vars)) {
      const text = json(value);
      if (text === undefined || this.#known.get(name) === text) continue;
      this.#known.set(name, text);
      set[name] = value;
    }
    const unset = [...this.#known.keys()].filter((name) => vars[name] === undefined);
    for (const name of unset) this.#known.delete(name);
    return { set, unset };
  }
}

/** `context.funcs`: what templates may call, for functions. */
function functionsOf(user) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const lookup = (path) => path.split(/[.[\]'"]+/).filter(Boolean).reduce((value, key) => value?.[key], user.context.vars);
  const shown = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''));
  const render = (input) => {
    if (Array.isArray(input)) return input.map(render);
    if (typeof input === 'object' && input !== null) return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, render(value)]));
    if (typeof input !== 'string') return input;
    const whole = /^\s*\{\{\s*([^{}]+?)\s*\}\}\s*$/.exec(input);
    if (whole) return lookup(whole[1]);
    return input.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (_, path) => shown(lookup(path)));
  };
  return {
    $randomNumber: (least, most) => randomInt(Math.ceil(least), Math.floor(most) + 1),
    $randomString: (length = 10) => Array.from({ length }, () => letters[randomInt(letters.length)]).join(''),
    $template: render,
  };
}

/** What functions may say besides: their own metrics. */
const events = {
  emit(kind, name, value) {
    if (kind === 'customStat') [kind, name, value] = ['histogram', name?.stat, name?.value];
    if (kind === 'summary') kind = 'histogram';
    if (!['counter', 'histogram', 'rate'].includes(kind)) return false;
    const amount = kind === 'rate' ? 1 : Number(value);
    if (typeof name !== 'string' || !Number.isFinite(amount)) {
      log('error', [`events.emit('${kind}', …) needs a name and a number, got ${format(name)} and ${format(value)}`]);
      return false;
    }
    tell({ is: 'metric', kind, name, value: amount });
    return true;
  },
  on: () => events,
  once: () => events,
  off: () => events,
  removeListener: () => events,
};

/** An error as the engine reports it; anything may be thrown. */
function described(error) {
  if (typeof error !== 'object' || error === null) return { message: String(error) };
  const message = String(error.message ?? format(error));
  const at = String(error.stack ?? '').split('\n').find((line) => /^\s+at /.test(line) && !line.includes('node:'));
  return { message, ...(error.code !== undefined && { code: String(error.code) }), ...(at && { at: at.trim() }) };
}

/** Ends a call: the first word counts. */
function finish(call, error, value) {
  if (calls.get(call.id) !== call) {
    // Not when the engine stopped waiting for it.
    if (call.isDone && !doneTwice.has(call.name)) {
      doneTwice.add(call.name);
      log('error', [`the function "${call.name}" called done more than once; the first time counted`]);
    }
    return;
  }
  call.isDone = true;
  calls.delete(call.id);
  const answer = { is: 'done', id: call.id, ...call.user.changes() };
  if (error) answer.error = described(error);
  if (value !== undefined && json(value) !== undefined) answer.value = value;
  if (call.params) answer.params = changed(call.params, call.before);
  tell(answer);
}

/** The keys of a request's parameters that a function set or changed, and those it deleted. */
function changed(params, before) {
  const set = {};
  for (const [key, value] of Object.entries(params)) {
    const plain = Buffer.isBuffer(value) ? { base64: value.toString('base64') } : value;
    const text = json(plain);
    if (text !== undefined && text !== before[key]) set[key] = plain;
  }
  return { set, unset: Object.keys(before).filter((key) => params[key] === undefined) };
}

/** Whether a function tells its end by calling `done`: it has a place for it, or reads its arguments in another way. */
function takesDone(fn, count) {
  return fn.length >= count || /\barguments\b|\.\.\.|\[native code\]/.test(Function.prototype.toString.call(fn));
}

/** The arguments before `done`, and what `done` is called with when all is well. */
const SHAPES = {
  function: (call) => [call.user.context, events],
  before: (call) => [call.params, call.user.context, events],
  after: (call) => [call.params, call.message.response, call.user.context, events],
  error: (call) => [Object.assign(new Error(call.message.error.message), call.message.error), call.params, call.user.context, events],
  connect: (call) => [call.params, call.user.context],
  while: (call) => [call.user.context],
  if: (call) => [call.user.context.vars],
};

function run(message) {
  const { user: number, id, name, kind } = message;
  if (!users.has(number)) users.set(number, new User(message.scenario ?? {}));
  const user = users.get(number);
  user.learn(message);
  const { params } = message;
  const before = params && Object.fromEntries(Object.entries(params).map(([key, value]) => [key, json(value)]));
  const call = { id, name, user, message, params, before, isDone: false };
  calls.set(id, call);
  const fn = functions[name];
  if (typeof fn !== 'function') return finish(call, new Error(`the processor exports no function "${name}"`));
  // A condition's word is what `done` is called with; any other function's is whether it went wrong.
  const done = kind === 'while' ? (value) => finish(call, null, Boolean(value)) : (error) => finish(call, error);
  const settle = (value) => finish(call, null, kind === 'while' || kind === 'if' ? Boolean(value) : undefined);
  current.run(call, () => {
    try {
      const given = SHAPES[kind](call);
      const waits = kind !== 'if' && fn.constructor.name !== 'AsyncFunction' && takesDone(fn, given.length + 1);
      const result = fn(...given, done);
      if (typeof result?.then === 'function') result.then(waits ? () => {} : settle, (error) => finish(call, error ?? new Error('rejected without a reason')));
      else if (!waits) settle(result);
    } catch (error) {
      finish(call, error ?? new Error('thrown without a reason'));
    }
  });
}

/** Nobody caught it: it belongs to the call it began in, if that is still open. */
function stray(error) {
  const call = current.getStore();
  if (call && calls.get(call.id) === call) return finish(call, error ?? new Error('nothing was thrown'));
  log('error', [`an error that nobody caught${call ? `, from "${call.name}"` : ''}: ${described(error).message}`]);
}
process.on('uncaughtException', stray);
process.on('unhandledRejection', stray);

/** What the loader's hooks do for `import`, for `require`. */
function serveRequires(files) {
  const made = (path) => path && files[pathToFileURL(path).href];
  const resolve = nodeModule._resolveFilename;
  nodeModule._resolveFilename = function (request, parent, ...rest) {
    const link = made(parent?.filename)?.imports[request];
    return link ? fileURLToPath(link) : resolve.call(this, request, parent, ...rest);
  };
  for (const extension of ['.js', '.cjs', '.mjs', '.jsx', '.ts', '.tsx', '.mts', '.cts']) {
    const before = nodeModule._extensions[extension] ?? nodeModule._extensions['.js'];
    nodeModule._extensions[extension] = (module, path) => {
      const file = made(path);
      if (file) module._compile(file.code, path);
      else before(module, path);
    };
  }
}

async function load({ module, modules }) {
  if (Object.keys(modules).length > 0) {
    if (typeof nodeModule.register !== 'function') throw new Error(`a processor in TypeScript needs Node 18.19 or newer, this is ${process.version}`);
    process.setSourceMapsEnabled(true);
    nodeModule.register(modules.hooks, { data: modules.files });
    serveRequires(modules.files);
  }
  const url = pathToFileURL(module).href;
  const isCommon = modules.files?.[url]?.format === 'commonjs';
  const loaded = isCommon ? { default: createRequire(url)(module) } : await import(url);
  functions = { ...loaded.default, ...loaded };
  const names = Object.keys(functions).filter((name) => typeof functions[name] === 'function');
  tell({ is: 'ready', names, version: process.version });
}

const HANDLERS = {
  load: (message) => load(message).catch((error) => tell({ is: 'failed', error: described(error) })),
  call: run,
  // The engine does not wait any longer; whatever the function says now is nobody's.
  abandon: ({ id }) => calls.delete(id),
  forget: ({ user }) => users.delete(user),
};

let pieces = Buffer.alloc(0);
socket.on('data', (bytes) => {
  pieces = pieces.length === 0 ? bytes : Buffer.concat([pieces, bytes]);
  while (pieces.length >= 4) {
    const end = 4 + pieces.readUInt32LE(0);
    if (pieces.length < end) return;
    const messages = JSON.parse(pieces.toString('utf8', 4, end));
    pieces = pieces.subarray(end);
    for (const message of messages) HANDLERS[message.do](message);
  }
});
// The engine has nothing more to ask: what was said so far still goes out.
socket.on('end', () => (flush(), socket.end()));
socket.on('error', () => process.exit(0));
socket.on('close', () => process.exit(0));
