// k6/x/socketio: Socket.IO over a WebSocket of k6/ws, whose `connect` this is; `fail(message)` throws as k6's Go does,
// `warn(url, why)` writes a line of the log and `isBuffer(value)` knows bytes; `buffers` is their class, undefined where the
// script names none of those that hold bytes: it can then only send back what it was sent.
(function (connect, fail, warn, isBuffer, buffers) {
  // Attachments of one packet.
  const MOST_ATTACHMENTS = 1000;
  let hasBytes = buffers !== undefined;

  // The bytes of a value whose type is one of bytes; undefined for any other.
  const bytesOf = (value) => {
    if (isBuffer(value)) return value;
    return buffers?.isView(value) ? value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) : undefined;
  };

  const address = (host, { path = '/socket.io/', query = {} }) => {
    const url = String(host);
    const at = url.indexOf('://');
    const scheme = { http: 'ws', https: 'wss', ws: 'ws', wss: 'wss' }[url.slice(0, Math.max(at, 0)).toLowerCase()];
    if (!scheme) fail(`unsupported scheme: ${url.slice(0, Math.max(at, 0))}`);
    const rest = url.slice(at + 3);
    const ends = ['/', '?', '#'].map((mark) => rest.indexOf(mark)).filter((end) => end >= 0);
    const given = rest.indexOf('?') < 0 ? '' : rest.slice(rest.indexOf('?') + 1).split('#')[0];
    const all = Object.entries({ EIO: 4, transport: 'websocket', ...query });
    const words = all.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    const slash = path.startsWith('/') ? '' : '/';
    return `${scheme}://${rest.slice(0, Math.min(rest.length, ...ends))}${slash}${path}?${[...(given ? [given] : []), ...words].join('&')}`;
  };

  // A packet behind its Engine.IO type: `{type, namespace, id, data, awaited}`, the last one the attachments it says will follow.
  const parsed = (text) => {
    const type = text[0];
    let [at, awaited] = [1, 0];
    if (type === '5' || type === '6') {
      const dash = text.indexOf('-');
      awaited = dash > 1 ? Number(text.slice(1, dash)) : NaN;
      if (!(awaited >= 0 && awaited <= MOST_ATTACHMENTS) || awaited % 1) throw new Error(`a packet must say how many attachments follow, up to ${MOST_ATTACHMENTS}; got ${text.slice(0, 20)}`);
      at = dash + 1;
    }
    let namespace = '/';
    if (text[at] === '/') {
      const comma = text.indexOf(',', at);
      const end = comma < 0 ? text.length : comma;
      namespace = text.slice(at, end).split('?')[0];
      at = Math.min(end + 1, text.length);
    }
    const begin = at;
    while (text[at] >= '0' && text[at] <= '9') at += 1;
    const id = at > begin ? Number(text.slice(begin, at)) : undefined;
    const data = at < text.length ? JSON.parse(text.slice(at)) : undefined;
    const isEvent = type === '2' || type === '5';
    if ((isEvent || type === '3' || type === '6') && (!Array.isArray(data) || (isEvent && data.length === 0))) throw new Error(`an event must be a list that begins with its name, an acknowledgement a list; got ${text.slice(at, at + 20)}`);
    return { type, namespace, id, data, awaited };
  };

  // The data with its attachments where their placeholders were.
  const filled = (data, attachments) => {
    if (data === null || typeof data !== 'object') return data;
    if (data._placeholder === true) {
      if (typeof data.num !== 'number' || !attachments[data.num]) throw new Error(`a placeholder must name one of ${attachments.length} attachments, from 0; got ${data.num}`);
      return attachments[data.num];
    }
    for (const name in data) data[name] = filled(data[name], attachments);
    return data;
  };

  // A packet's frames: its text, then its attachments. `plain` and `binary` are its two types.
  const frames = (plain, binary, prefix, id, data) => {
    const attachments = new Array();
    const place = (_, value) => {
      const bytes = value !== null && typeof value === 'object' ? bytesOf(value) : undefined;
      return bytes ? { _placeholder: true, num: attachments.push(bytes) - 1 } : value;
    };
    const text = hasBytes ? JSON.stringify(data, place) : JSON.stringify(data);
    const type = attachments.length > 0 ? `${binary}${attachments.length}-` : plain;
    return [`4${type}${prefix}${id}${text}`, ...attachments];
  };

  // The functions a script may call on the socket of a connection that never was.
  const nothing = () => {};
  const unopened = { on: nothing, send: nothing, sendBinary: nothing, ping: nothing, close: nothing, setTimeout: nothing, setInterval: nothing };

  function io(host, options, handler) {
    if (handler !== undefined && handler !== null && typeof handler !== 'function') fail('handler must be a function');
    const wanted = options ?? {};
    const own = String(wanted.namespace || '/');
    const namespace = own.startsWith('/') ? own : `/${own}`;
    const prefix = namespace === '/' ? '' : `${namespace},`;
    const url = address(host, wanted);
    const handlers = Object.create(null);
    const tell = (event, given) => (handlers[event] ?? []).slice().forEach((each) => each(...given));
    // An error that nobody listens for is worth a line.
    const complain = (events, error) => {
      if (!events.some((event) => handlers[event])) warn(url, error.message);
      events.forEach((event) => tell(event, [error]));
    };
    const begin = (socket) => {
      const asked = new Array();
      // Frames that wait for the session, and the packet that waits for its attachments.
      let [waiting, isOver, partial] = [[], false, undefined];
      const put = (frame) => (typeof frame === 'string' ? socket.send(frame) : socket.sendBinary(frame));
      const emit = (event, ...given) => {
        let id = '';
        if (typeof given[given.length - 1] === 'function') id = asked.push(given.pop()) - 1;
        const all = frames('2', '5', prefix, id, [event, ...given]);
        if (waiting) waiting.push(...all);
        else all.forEach(put);
      };
      const over = (reason) => {
        if (isOver) return;
        isOver = true;
        waiting = [];
        tell('disconnect', [reason]);
      };
      const packet = ({ type, namespace: of, id, data }) => {
        if (of !== namespace) return;
        if (type === '0') {
          const all = waiting ?? [];
          waiting = undefined;
          all.forEach(put);
          tell('connect', []);
        } else if (type === '1') {
          over('io server disconnect');
          socket.close();
        } else if (type === '2' || type === '5') {
          const [event, ...given] = data;
          tell(event, id === undefined ? given : [...given, (...answer) => frames('3', '6', prefix, id, answer).forEach(put)]);
        } else if (type === '3' || type === '6') {
          const answered = asked[id];
          asked[id] = undefined;
          answered?.(...data);
        } else if (type === '4') {
          complain(['connect_error', 'error'], { message: data?.message ?? String(data), type: 'socketio', data: data?.data });
        }
      };
      // Gives `packet` the packets of `read`; nothing that comes behind a wrong packet can be understood.
      const take = (read) => {
        let whole;
        try {
          whole = read();
        } catch (error) {
          complain(['error'], { message: error.message, type: 'parser' });
          over('parse error');
          socket.close();
        }
        if (whole) packet(whole);
      };
      const wrapper = Object.create(socket);
      Object.assign(wrapper, {
        emit,
        connected: false,
        send: (...given) => emit('message', ...given),
        on(event, each) {
          if (typeof each !== 'function') fail('on(event, handler): handler must be a function');
          (handlers[event] ??= []).push(each);
          return wrapper;
        },
        disconnect() {
          if (!waiting) socket.send(`41${prefix}`);
          over('io client disconnect');
          socket.close();
        },
      });
      Object.defineProperty(wrapper, 'connected', { get: () => !waiting && !isOver, enumerable: true });
      socket.on('message', (text) => {
        if (text === '2') socket.send('3');
        else if (text[0] === '0') socket.send(`40${prefix}${wanted.auth ? JSON.stringify(wanted.auth) : ''}`);
        else if (text[0] === '1') socket.close();
        else if (text[0] === '4')
          take(() => {
            if (partial) throw new Error(`attachment ${partial.attachments.length + 1} of ${partial.awaited} must follow; got ${text.slice(0, 20)}`);
            const read = parsed(text.slice(1));
            if (read.awaited === 0) return read;
            partial = { ...read, attachments: new Array() };
          });
      });
      socket.on('binaryMessage', (bytes) =>
        take(() => {
          hasBytes = true;
          if (!partial) throw new Error('an attachment must follow the packet that announces it; got one that none announced');
          if (partial.attachments.push(bytes) < partial.awaited) return undefined;
          const whole = { ...partial, data: filled(partial.data, partial.attachments) };
          partial = undefined;
          return whole;
        }),
      );
      socket.on('error', (error) => complain(['error'], { message: error.error?.() ?? error.message ?? String(error), type: 'transport' }));
      socket.on('close', () => over('transport close'));
      socket.setTimeout(() => waiting && !isOver && complain(['error'], { message: 'Connection timeout: failed to establish connection', type: 'timeout' }), (wanted.timeout > 0 ? wanted.timeout : 10) * 1000);
      handler?.(wrapper);
    };
    let hasBegun = false;
    const response = connect(url, wanted.params ?? {}, (socket) => {
      hasBegun = true;
      begin(socket);
    });
    if (response.status >= 400) fail(`socket.io connect failed: ${response.status} (${url})`);
    if (!hasBegun) {
      begin(unopened);
      const message = response.error || `the handshake was answered with status ${response.status}, not 101`;
      complain(['connect_error', 'error'], { message, type: 'transport' });
    }
    return response;
  }

  return io;
})
