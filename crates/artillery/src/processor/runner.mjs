// The processor's side of a run: loads the script's functions and calls them for the users of one shard.
//
// It speaks with the engine over the socket it was given as standard input: frames of four bytes of length (little-endian)
// and a JSON list of messages. When that socket closes, the run is over, and so is this process. It says its version first;
// `load` brings the module and is answered by the names of its functions, `share` the variables all users share. What a user's
// variables are is known on both sides; only what changed travels.
import { AsyncLocalStorage } from 'node:async_hooks';
import nodeModule, { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { Worker } from 'node:worker_threads';

/** Lines of the log that may wait for the engine; further ones are dropped, and counted. */
const LINES_MAX = 10_000;
/** Longest beginning of a line that waits for its end, in characters. */
const UNENDED_MAX = 8 << 10;
/** Kinds of events that mean nothing here and are told of. */
const ODD_KINDS_MAX = 100;
/** The longest answer and the longest frame, in characters: in bytes still less than the engine takes. */
const FRAME_MAX = 64 << 20;

const socket = new Socket({ fd: 0, readable: true, writable: true, allowHalfOpen: true });
const users = new Map();
const calls = new Map();
const doneTwice = new Set();
const oddKinds = new Set();
/** What is still to be said when the run is over. */
const endings = [];
/** How far functions' parameters reach. */
const written = new WeakMap();
/** Whose call is under way: an exception in a timer or a promise nobody waits for belongs to it. */
const current = new AsyncLocalStorage();
let functions = {};
let outbox = [];
let lines = 0;
let dropped = 0;

// First of all: the engine may have to say that this Node is too old for what follows.
tell({ is: 'hello', version: process.version });
flush();

// Whoever ends the run with a signal means the engine, which winds down and then closes the socket: calls under way are
// still answered.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

// Where the two share a core the engine goes first: when something is sent is its promise, how long a function takes is not.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

// A function in an endless loop keeps this thread from seeing that the socket is closed: another one looks for the engine.
new Worker(
  `const engine = ${process.ppid}; setInterval(() => { if (process.ppid !== engine) process.kill(process.pid, 'SIGKILL'); }, 1000);`,
  { eval: true, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 } },
).on('error', () => {}).unref();

function tell(message) {
  send(JSON.stringify(message));
}

/** Messages wait as texts: what a function does to its variables afterwards cannot spoil them. */
function send(text) {
  if (outbox.push(text) === 1) setImmediate(flush);
}

function flush() {
  if (outbox.length === 0) return;
  if (dropped > 0) outbox.push(JSON.stringify({ is: 'log', text: `${dropped} lines were dropped: they came faster than they can be printed` }));
  const texts = outbox;
  outbox = [];
  dropped = 0;
  let [frame, length] = [[], 0];
  for (const text of texts) {
    if (frame.length > 0 && length + text.length > FRAME_MAX) {
      write(frame);
      [frame, length] = [[], 0];
    }
    frame.push(text);
    length += text.length;
  }
  write(frame);
}

function write(frame) {
  const text = Buffer.from(`[${frame.join(',')}]`);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(text.length);
  socket.write(Buffer.concat([head, text]), () => (lines = 0));
}

function line(message) {
  if (lines >= LINES_MAX) return void (dropped += 1);
  lines += 1;
  tell(message);
}

/** Says something of our own, as the engine does. */
function note(text) {
  line({ is: 'log', text });
}

/** What functions print, console and all, goes out by the engine, whose streams have other readers too; whole lines of it, or what
 * there is of a line that has grown long. */
function printed(stream) {
  const decoder = new StringDecoder();
  let rest = [];
  let length = 0;
  const print = (text) => line({ is: 'printed', stream, text });
  const keep = (text) => {
    if (text !== '') rest.push(text);
    length += text.length;
  };
  const flush = () => {
    if (length > 0) print(rest.join(''));
    [rest, length] = [[], 0];
  };
  const write = (chunk, _, next) => {
    const text = typeof chunk === 'string' ? chunk : decoder.write(chunk);
    const end = text.lastIndexOf('\n');
    if (end >= 0) {
      print(rest.join('') + text.slice(0, end));
      [rest, length] = [[], 0];
    }
    keep(text.slice(end + 1));
    if (length > UNENDED_MAX) flush();
    next();
  };
  endings.push(flush);
  return new Writable({ decodeStrings: false, write });
}
// Before anybody prints: the console takes its streams from here when it prints first.
for (const [name, stream] of [['stdout', 'out'], ['stderr', 'error']]) {
  Object.defineProperty(process, name, { value: printed(stream), configurable: true, writable: true });
}

/** What functions may say besides: their own metrics, and errors to be counted. */
const events = {
  emit(kind, name, value) {
    if (kind === 'customStat') [kind, name, value] = ['histogram', name?.stat, name?.value];
    if (kind === 'summary') kind = 'histogram';
    if (kind === 'error') [kind, name, value] = ['counter', `errors.${name}`, 1];
    if (!['counter', 'histogram', 'rate'].includes(kind)) {
      const isNews = !oddKinds.has(kind) && oddKinds.size < ODD_KINDS_MAX;
      if (isNews) note(`events.emit('${format(kind)}', …) means nothing here: the kinds are counter, rate, histogram and error`);
      if (isNews) oddKinds.add(kind);
      return false;
    }
    const amount = kind === 'rate' ? 1 : Number(value);
    if (typeof name !== 'string' || !Number.isFinite(amount)) {
      note(`events.emit('${kind}', …) needs a name and a number, got ${format(name)} and ${format(value)}`);
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

installGlobal({ tell, note, print: (...values) => process.stdout.write(`${format(...values)}\n`), EventEmitter });

/** An error as the engine reports it; anything may be thrown. */
function described(error) {
  try {
    if (error === undefined || error === null) return { message: 'no reason was given' };
    // Artillery counts an error by its code or message: a text has neither.
    if (typeof error !== 'object') return { message: String(error), code: 'undefined' };
    const message = String(error.message ?? format(error));
    const at = String(error.stack ?? '').split('\n').find((line) => /^\s+at /.test(line) && !/node:|data:|\[eval/.test(line));
    return { message, ...(error.code !== undefined && { code: String(error.code) }), ...(at && { at: at.trim() }) };
  } catch {
    return { message: 'an error that cannot be put into words' };
  }
}

/**
 * Ends a call: the first word counts, and `by` says what spoke it. Of later ones a second `done` is worth a line, and so is
 * an error, which nobody would hear of otherwise; that a promise settles after `done` is as it should be.
 */
function finish(call, by, error, value) {
  const isRepeated = by === 'done' && call.saidDone;
  call.saidDone ||= by === 'done';
  if (calls.get(call.id) === call) {
    call.isDone = true;
    calls.delete(call.id);
    return send(answer(call, error, value));
  }
  // The engine stopped waiting for it.
  if (!call.isDone) return;
  if (error) return note(`the function "${call.name}" was done already when it failed: ${error.message}`);
  if (!isRepeated || doneTwice.has(call.name)) return;
  doneTwice.add(call.name);
  note(`the function "${call.name}" called done more than once; the first time counted`);
}

/** What a call has left behind, as text; what cannot be told fails this call and no other. */
function answer(call, error, value) {
  const failed = (why) => `{"is":"done","id":${call.id},"error":${JSON.stringify(described(why))}}`;
  const parts = [`"is":"done","id":${call.id}`];
  const add = (part) => {
    try {
      parts.push(part());
    } catch (trouble) {
      error ??= described(trouble);
    }
  };
  add(() => call.user.changes());
  if (call.before) add(() => changed(call));
  if (value !== undefined) parts.push(`"value":${value}`);
  if (error) parts.push(`"error":${JSON.stringify(error)}`);
  try {
    const text = `{${parts.join(',')}}`;
    return text.length <= FRAME_MAX ? text : failed(`it left ${text.length} characters of variables, and ${FRAME_MAX} can be told`);
  } catch (trouble) {
    return failed(trouble);
  }
}

/** Strings, comments and what shapes a list of parameters. */
const TOKENS = /\/\*[^]*?\*\/|\/\/.*|'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"|`(?:\\[^]|[^`\\])*`|\.\.\.|[^]/g;

/** How many parameters a text of a function has, those with a default among them, and whether the last takes the rest. */
function parametersOf(text) {
  if (/^(?:async\s+)?[^\s(){}[\]'"`=]+\s*=>/.test(text)) return { count: 1, hasRest: false };
  let [depth, count, hasRest, isNext, isInside] = [0, 0, false, true, false];
  for (const [token] of text.matchAll(TOKENS)) {
    if (/^(?:\s|\/[/*])/.test(token)) continue;
    if (isInside && depth === 1) {
      if (token === ')') break;
      if (isNext && token !== ',') [count, hasRest] = [count + 1, token === '...'];
      isNext = token === ',';
    }
    if ('([{'.includes(token)) {
      isInside ||= token === '(' && depth === 0;
      depth += 1;
    } else if (')]}'.includes(token)) depth -= 1;
  }
  return { count, hasRest };
}

/**
 * Whether a function tells its end by calling `done`, its `count`th argument: surely when it has a place for it; perhaps when
 * it can reach it in another way, and then a promise it returns is as good.
 */
function awaitsDone(fn, count) {
  if (fn.constructor.name === 'AsyncFunction') return 'no';
  if (fn.length >= count) return 'surely';
  if (!written.has(fn)) written.set(fn, reachOf(fn));
  const { places, isOpen } = written.get(fn);
  return isOpen ? 'perhaps' : places >= count ? 'surely' : 'no';
}

/** How far a function's parameters reach by its text; `isOpen`: to whatever it is called with. */
function reachOf(fn) {
  const text = Function.prototype.toString.call(fn);
  // A bound one shows no more than its length.
  if (/\{\s*\[native code\]\s*\}$/.test(text)) return { places: fn.length, isOpen: fn.length === 0 };
  const { count, hasRest } = parametersOf(text);
  const isArrow = /^(?:async\s*)?\(\s*\)\s*=>/.test(text);
  return { places: count, isOpen: hasRest || (count === 0 && !isArrow && /\barguments\b/.test(text)) };
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
  const call = { id, name, user: users.get(number), message, params: message.params, before: undefined, isDone: false, saidDone: false };
  calls.set(id, call);
  current.run(call, () => {
    try {
      call.user.learn(message);
      noteParams(call);
      begin(call, kind);
    } catch (error) {
      finish(call, 'throw', described(error));
    }
  });
}

function begin(call, kind) {
  const fn = functions[call.name];
  if (typeof fn !== 'function') throw new Error(`the processor exports no function "${call.name}"`);
  // A condition's word is what `done` is called with; any other function's is whether it went wrong.
  const done = kind === 'while' ? (value) => finish(call, 'done', undefined, Boolean(value)) : (error) => finish(call, 'done', error ? described(error) : undefined);
  const settle = (value) => finish(call, 'return', undefined, kind === 'while' || kind === 'if' ? Boolean(value) : undefined);
  const given = SHAPES[kind](call);
  const waits = kind === 'if' ? 'no' : awaitsDone(fn, given.length + 1);
  const result = fn(...given, done);
  if (typeof result?.then === 'function') result.then(waits === 'surely' ? () => {} : settle, (error) => finish(call, 'throw', described(error)));
  else if (waits === 'no') settle(result);
}

/** Nobody caught it: it belongs to the call it began in, if that is still open. */
function stray(error) {
  const call = current.getStore();
  if (call && calls.get(call.id) === call) return finish(call, 'throw', described(error));
  note(`an error that nobody caught${call ? `, from "${call.name}"` : ''}: ${described(error).message}`);
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
  tell({ is: 'ready', names });
}

/** What was said so far, a last line without an end too. */
function sayRest() {
  for (const end of endings) end();
  flush();
}

const HANDLERS = {
  load: (message) => load(message).catch((error) => (sayRest(), tell({ is: 'failed', error: described(error) }))),
  share: ({ shared: vars }) => share(vars),
  call: run,
  // The engine does not wait any longer; whatever the function says now is nobody's.
  abandon: ({ id }) => calls.delete(id),
  forget: ({ user }) => users.delete(user),
};

let [pieces, length, wanted] = [[], 0, 4];
socket.on('data', (bytes) => {
  pieces.push(bytes);
  length += bytes.length;
  // Joined when there is enough of it: a frame with a payload in it comes in a thousand pieces.
  while (length >= wanted) {
    const whole = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    pieces = [whole];
    wanted = 4 + whole.readUInt32LE(0);
    if (length < wanted) return;
    const messages = JSON.parse(whole.toString('utf8', 4, wanted));
    pieces = [whole.subarray(wanted)];
    [length, wanted] = [length - wanted, 4];
    for (const message of messages) HANDLERS[message.do](message);
  }
});
// The engine has nothing more to ask: what was said so far still goes out.
socket.on('end', () => (sayRest(), socket.end()));
socket.on('error', () => process.exit(0));
socket.on('close', () => process.exit(0));
// A module that ends the process has said what it said: the socket takes it at once as a rule.
process.on('exit', () => socket.writable && sayRest());
