// k6/x/socketio: Socket.IO over a WebSocket of k6/ws, whose `connect` this is; `fail(message)` throws as k6's Go does.
(function (connect, fail) {
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

  // A packet behind its Engine.IO type: `{type, namespace, id, data}`.
  const parsed = (text) => {
    let at = 1;
    let namespace = '/';
    if (text[at] === '/') {
      const comma = text.indexOf(',', at);
      const end = comma < 0 ? text.length : comma;
      namespace = text.slice(at, end).split('?')[0];
      at = Math.min(end + 1, text.length);
    }
    const begin = at;
    while (text[at] >= '0' && text[at] <= '9') at += 1;
    const data = at < text.length ? JSON.parse(text.slice(at)) : undefined;
    return { type: text[0], namespace, id: at > begin ? Number(text.slice(begin, at)) : undefined, data };
  };

  function io(host, options, handler) {
    if (handler !== undefined && handler !== null && typeof handler !== 'function') fail('handler must be a function');
    const wanted = options ?? {};
    const own = String(wanted.namespace || '/');
    const namespace = own.startsWith('/') ? own : `/${own}`;
    const prefix = namespace === '/' ? '' : `${namespace},`;
    const url = address(host, wanted);
    const response = connect(url, wanted.params ?? {}, (socket) => {
      const handlers = Object.create(null);
      const asked = new Array();
      let [waiting, isOver] = [[], false];
      const tell = (event, given) => (handlers[event] ?? []).slice().forEach((each) => each(...given));
      const send = (text) => (waiting ? waiting.push(text) : socket.send(text));
      const emit = (event, ...given) => {
        let id = '';
        if (typeof given[given.length - 1] === 'function') id = asked.push(given.pop()) - 1;
        send(`42${prefix}${id}${JSON.stringify([event, ...given])}`);
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
          all.forEach((text) => socket.send(text));
          tell('connect', []);
        } else if (type === '1') {
          over('io server disconnect');
          socket.close();
        } else if (type === '2') {
          const [event, ...given] = data;
          tell(event, id === undefined ? given : [...given, (...answer) => socket.send(`43${prefix}${id}${JSON.stringify(answer)}`)]);
        } else if (type === '3') {
          asked[id]?.(...data);
          asked[id] = undefined;
        } else if (type === '4') {
          const error = { message: data?.message ?? String(data), type: 'socketio', data: data?.data };
          tell('connect_error', [error]);
          tell('error', [error]);
        }
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
        else if (text[0] === '4') packet(parsed(text.slice(1)));
      });
      socket.on('error', (error) => tell('error', [error]));
      socket.on('close', () => over('transport close'));
      socket.setTimeout(() => waiting && !isOver && tell('error', [{ message: 'Connection timeout: failed to establish connection', type: 'timeout' }]), (wanted.timeout > 0 ? wanted.timeout : 10) * 1000);
      handler?.(wrapper);
    });
    if (response.status >= 400) fail(`socket.io connect failed: ${response.status} (${url})`);
    return response;
  }

  return io;
})
