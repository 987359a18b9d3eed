// `artillery`: the global object that functions find in Artillery's workers. What decides something there decides it here (the exit
// code, templates, lines of the log); what belongs to Artillery's own process is there and does nothing; anything else says so.

function installGlobal({ tell, note, print, EventEmitter }) {
  const told = new Set();
  const noEffect = (what) => {
    if (!told.has(what) && told.add(what)) note(`artillery.${what} has no effect here`);
  };
  let exitCode = 0;
  const globalEvents = new EventEmitter().on('log', (options, ...values) => print(...values));
  const known = {
    version: '2.0.34',
    runtimeOptions: {},
    util: { template: (input, context) => (context ? templateOf(() => context.vars ?? {})(input) : input) },
    plugins: [],
    extensionEvents: [],
    globalEvents,
    log: (...values) => print(...values),
    logger: () => ({ log: (...values) => print(...values) }),
    metrics: { event: async (message) => print(message) },
    ext: async () => noEffect('ext'),
    shutdown: async () => noEffect('shutdown'),
    get suggestedExitCode() {
      return exitCode;
    },
    set suggestedExitCode(code) {
      exitCode = code;
      const number = Number(code ?? 0);
      if (Number.isInteger(number)) tell({ is: 'exit', code: number & 0xff });
      else note(`artillery.suggestedExitCode is a whole number, got ${String(code)}: it has no effect`);
    },
  };
  // Scripts ask whether something is there (`artillery.stash`) before they use it: it stays undefined, with a word of it.
  globalThis.artillery = new Proxy(known, {
    get(target, name) {
      if (typeof name === 'string' && !(name in target) && name !== 'then' && !name.startsWith('_')) noEffect(name);
      return target[name];
    },
  });
  // Scripts ask it whether they are in a worker.
  process.env.LOCAL_WORKER_ID ??= '1';
}

/** `context.sockets` and `context.ws` are clients of Artillery's engines: whatever is called of them says what to do in its place. */
function withoutClients(context) {
  const hints = {
    sockets: 'emit with a step, `emit: [channel, "{{ variable }}"]`, and set the variable in the function',
    ws: 'send with a step, `send: "{{ variable }}"`, and set the variable in the function',
  };
  for (const [name, hint] of Object.entries(hints)) {
    const refuse = () => {
      throw new Error(`context.${name} is not supported, for functions have no connection: ${hint}`);
    };
    const client = new Proxy(refuse, { get: (_, member) => (typeof member === 'symbol' || member === 'then' ? undefined : client) });
    Object.defineProperty(context, name, { value: client, configurable: true, enumerable: false, writable: true });
  }
  return context;
}
