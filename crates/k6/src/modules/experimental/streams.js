// Streams as the standard has them, for chunks that are values: no byte streams, no pipes.
(function () {
  const settled = (promise) => {
    promise.catch(() => {});
    return promise;
  };
  // A promise and what settles it; nobody has to listen.
  const deferred = () => {
    const made = {};
    made.promise = settled(new Promise((resolve, reject) => Object.assign(made, { resolve, reject })));
    return made;
  };
  const markOf = (strategy, otherwise) => {
    const mark = strategy?.highWaterMark ?? otherwise;
    if (!(Number(mark) >= 0)) throw new RangeError('highWaterMark must be a number that is not negative');
    return Number(mark);
  };
  const sizeOf = (strategy, chunk) => {
    const size = strategy?.size === undefined ? 1 : Number(strategy.size(chunk));
    if (!(size >= 0) || size === Infinity) throw new RangeError('the size of a chunk must be a number that is not negative');
    return size;
  };
  const functionOf = (object, name) => {
    const found = object?.[name];
    if (found !== undefined && typeof found !== 'function') throw new TypeError(`${name} must be a function`);
    return found;
  };

  class CountQueuingStrategy {
    constructor({ highWaterMark }) {
      this.highWaterMark = highWaterMark;
    }
    size() {
      return 1;
    }
  }

  class Readable {
    state = 'readable';
    queue = [];
    total = 0;
    reads = [];
    closing = false;
    pulling = false;
    again = false;
    started = false;
    closed = deferred();
    reader = undefined;
    constructor(source, strategy) {
      if (source?.type !== undefined) throw new RangeError('only streams of values are supported');
      this.source = source;
      this.strategy = strategy;
      this.mark = markOf(strategy, 1);
      for (const name of ['start', 'pull', 'cancel']) functionOf(source, name);
      const stream = this;
      this.controller = {
        get desiredSize() {
          return stream.desired();
        },
        enqueue: (chunk) => stream.enqueue(chunk),
        close: () => stream.close(),
        error: (reason) => stream.fail(reason),
      };
    }
    begin() {
      const begun = this.source?.start?.(this.controller);
      Promise.resolve(begun).then(
        () => {
          this.started = true;
          this.pull();
        },
        (reason) => this.fail(reason),
      );
    }
    desired() {
      if (this.state === 'errored') return null;
      return this.state === 'closed' ? 0 : this.mark - this.total;
    }
    pull() {
      const isWanted = this.state === 'readable' && !this.closing && this.started && (this.reads.length > 0 || this.desired() > 0);
      if (!isWanted || this.source?.pull === undefined) return;
      if (this.pulling) {
        this.again = true;
        return;
      }
      this.pulling = true;
      const over = () => {
        this.pulling = false;
        if (this.again) {
          this.again = false;
          this.pull();
        }
      };
      new Promise((resolve) => resolve(this.source.pull(this.controller))).then(over, (reason) => this.fail(reason));
    }
    enqueue(chunk) {
      if (this.state !== 'readable' || this.closing) throw new TypeError('the stream takes no more chunks');
      if (this.reads.length > 0) {
        this.reads.shift().resolve({ done: false, value: chunk });
      } else {
        let size;
        try {
          size = sizeOf(this.strategy, chunk);
        } catch (error) {
          this.fail(error);
          throw error;
        }
        this.queue.push([chunk, size]);
        this.total += size;
      }
      this.pull();
    }
    close() {
      if (this.state !== 'readable' || this.closing) throw new TypeError('the stream is closed already');
      this.closing = true;
      if (this.queue.length === 0) this.finish();
    }
    finish() {
      this.state = 'closed';
      this.closed.resolve();
      for (const read of this.reads.splice(0)) read.resolve({ done: true, value: undefined });
    }
    fail(reason) {
      if (this.state !== 'readable') return;
      this.state = 'errored';
      this.reason = reason;
      this.queue = [];
      this.closed.reject(reason);
      for (const read of this.reads.splice(0)) read.reject(reason);
    }
    read() {
      if (this.state === 'errored') return Promise.reject(this.reason);
      if (this.queue.length > 0) {
        const [value, size] = this.queue.shift();
        this.total -= size;
        if (this.closing && this.queue.length === 0) this.finish();
        else this.pull();
        return Promise.resolve({ done: false, value });
      }
      if (this.state === 'closed') return Promise.resolve({ done: true, value: undefined });
      const read = deferred();
      this.reads.push(read);
      this.pull();
      return read.promise;
    }
    async cancel(reason) {
      if (this.state === 'errored') throw this.reason;
      if (this.state === 'closed') return;
      this.queue = [];
      this.finish();
      await this.source?.cancel?.(reason);
    }
  }

  class ReadableStream {
    #stream;
    constructor(source, strategy) {
      this.#stream = new Readable(source, strategy);
      this.#stream.begin();
    }
    static stream = (stream) => stream.#stream;
    get locked() {
      return this.#stream.reader !== undefined;
    }
    getReader() {
      return new ReadableStreamDefaultReader(this);
    }
    async cancel(reason) {
      if (this.locked) throw new TypeError('the stream is locked to a reader');
      return this.#stream.cancel(reason);
    }
    async *[Symbol.asyncIterator]() {
      const reader = this.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    }
  }

  class ReadableStreamDefaultReader {
    #stream;
    #closed;
    constructor(stream) {
      if (!(stream instanceof ReadableStream)) throw new TypeError('a reader needs a ReadableStream');
      if (stream.locked) throw new TypeError('the stream is locked to a reader');
      this.#stream = ReadableStream.stream(stream);
      this.#stream.reader = this;
      this.#closed = this.#stream.closed.promise;
    }
    get closed() {
      return this.#closed;
    }
    async read() {
      if (this.#stream === undefined) throw new TypeError('the reader was released');
      return this.#stream.read();
    }
    async cancel(reason) {
      if (this.#stream === undefined) throw new TypeError('the reader was released');
      return this.#stream.cancel(reason);
    }
    releaseLock() {
      if (this.#stream === undefined) return;
      const released = new TypeError('the reader was released');
      for (const read of this.#stream.reads.splice(0)) read.reject(released);
      if (this.#stream.state === 'readable') this.#closed = settled(Promise.reject(released));
      this.#stream.reader = undefined;
      this.#stream = undefined;
    }
  }

  class Writable {
    state = 'writable';
    queue = [];
    total = 0;
    busy = true;
    closed = deferred();
    ready = deferred();
    writer = undefined;
    constructor(sink, strategy) {
      if (sink?.type !== undefined) throw new RangeError('a sink has no type');
      this.sink = sink;
      this.strategy = strategy;
      this.mark = markOf(strategy, 1);
      for (const name of ['start', 'write', 'close', 'abort']) functionOf(sink, name);
      this.controller = { error: (reason) => this.fail(reason) };
    }
    begin() {
      const begun = this.sink?.start?.(this.controller);
      this.press();
      const over = () => {
        this.busy = false;
        this.next();
      };
      Promise.resolve(begun).then(over, (reason) => this.fail(reason));
    }
    desired() {
      if (this.state === 'errored') return null;
      return this.state === 'closed' ? 0 : this.mark - this.total;
    }
    // `ready` waits while the queue is full.
    press() {
      const isFull = this.state === 'writable' && this.desired() <= 0;
      if (isFull && this.ready.isDone) this.ready = deferred();
      if (!isFull && !this.ready.isDone) {
        this.ready.isDone = true;
        this.ready.resolve();
      }
    }
    add(what) {
      this.queue.push(what);
      this.total += what.size;
      this.press();
      this.next();
      return what.promise;
    }
    write(chunk) {
      if (this.state === 'errored') return Promise.reject(this.reason);
      if (this.state !== 'writable') return Promise.reject(new TypeError('the stream takes no more chunks'));
      let size;
      try {
        size = sizeOf(this.strategy, chunk);
      } catch (error) {
        this.fail(error);
        return Promise.reject(error);
      }
      return this.add({ ...deferred(), size, run: () => this.sink?.write?.(chunk, this.controller) });
    }
    close() {
      if (this.state === 'errored') return Promise.reject(this.reason);
      if (this.state !== 'writable') return Promise.reject(new TypeError('the stream is closed already'));
      this.state = 'closing';
      const close = { ...deferred(), size: 0, run: () => this.sink?.close?.() };
      close.promise.then(() => {
        this.state = 'closed';
        this.closed.resolve();
      }, () => {});
      return this.add(close);
    }
    next() {
      if (this.busy || this.queue.length === 0 || this.state === 'errored') return;
      const what = this.queue.shift();
      this.busy = true;
      new Promise((resolve) => resolve(what.run())).then(
        () => {
          this.busy = false;
          this.total -= what.size;
          what.resolve();
          this.press();
          this.next();
        },
        (reason) => {
          what.reject(reason);
          this.fail(reason);
        },
      );
    }
    fail(reason) {
      if (this.state === 'errored' || this.state === 'closed') return;
      this.state = 'errored';
      this.reason = reason;
      for (const what of this.queue.splice(0)) what.reject(reason);
      this.closed.reject(reason);
      this.ready = deferred();
      this.ready.isDone = true;
      this.ready.reject(reason);
    }
    async abort(reason) {
      if (this.state === 'closed' || this.state === 'errored') return;
      this.fail(reason);
      await this.sink?.abort?.(reason);
    }
  }

  class WritableStream {
    #stream;
    constructor(sink, strategy) {
      this.#stream = new Writable(sink, strategy);
      this.#stream.begin();
    }
    static stream = (stream) => stream.#stream;
    get locked() {
      return this.#stream.writer !== undefined;
    }
    getWriter() {
      return new WritableStreamDefaultWriter(this);
    }
    async #free(what) {
      if (this.locked) throw new TypeError('the stream is locked to a writer');
      return what();
    }
    abort(reason) {
      return this.#free(() => this.#stream.abort(reason));
    }
    close() {
      return this.#free(() => this.#stream.close());
    }
  }

  class WritableStreamDefaultWriter {
    #stream;
    constructor(stream) {
      if (!(stream instanceof WritableStream)) throw new TypeError('a writer needs a WritableStream');
      if (stream.locked) throw new TypeError('the stream is locked to a writer');
      this.#stream = WritableStream.stream(stream);
      this.#stream.writer = this;
    }
    #own() {
      if (this.#stream === undefined) throw new TypeError('the writer was released');
      return this.#stream;
    }
    get closed() {
      return this.#stream === undefined ? settled(Promise.reject(new TypeError('the writer was released'))) : this.#stream.closed.promise;
    }
    get ready() {
      return this.#stream === undefined ? settled(Promise.reject(new TypeError('the writer was released'))) : this.#stream.ready.promise;
    }
    get desiredSize() {
      return this.#own().desired();
    }
    async write(chunk) {
      return this.#own().write(chunk);
    }
    async close() {
      return this.#own().close();
    }
    async abort(reason) {
      return this.#own().abort(reason);
    }
    releaseLock() {
      if (this.#stream !== undefined) this.#stream.writer = undefined;
      this.#stream = undefined;
    }
  }
  return { ReadableStream, ReadableStreamDefaultReader, WritableStream, WritableStreamDefaultWriter, CountQueuingStrategy };
})
