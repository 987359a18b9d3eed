// k6/experimental/fs and k6/experimental/csv: files as scripts read them, over the bytes `native` keeps once for all users.
(function (native) {
  const SeekMode = { Start: 0, Current: 1, End: 2 };
  const failure = (name, message) => Object.defineProperty(new Error(message), 'name', { value: name });
  const number = (value, what) => {
    if (typeof value !== 'number') throw failure('TypeError', `seek() failed; reason: the ${what} argument must be a number`);
    return Math.trunc(value);
  };

  class File {
    #handle;
    #size;
    #at = 0;
    constructor(path, handle) {
      this.path = path;
      this.#handle = handle;
      this.#size = native.size(handle);
    }
    static handle(file) {
      if (typeof file !== 'object' || file === null || !(#handle in file)) {
        native.fail('first argument expected to be a fs.File instance');
      }
      return file.#handle;
    }
    async stat() {
      return { name: this.path.slice(this.path.lastIndexOf('/') + 1), size: this.#size };
    }
    // How many bytes `into` got; null at the end.
    async read(into) {
      if (!(into instanceof Uint8Array)) throw failure('TypeError', 'read() failed; reason: into argument must be a Uint8Array');
      if (this.#at >= this.#size) return null;
      const bytes = new Uint8Array(native.read(this.#handle, this.#at, into.length));
      into.set(bytes);
      this.#at += bytes.length;
      return bytes.length;
    }
    async seek(offset, whence) {
      const by = number(offset, 'offset');
      const from = [0, this.#at, this.#size][number(whence, 'whence')];
      if (from === undefined) throw failure('TypeError', 'seek() failed; reason: the whence argument must be a SeekMode');
      if (from + by < 0) throw failure('TypeError', 'seeking before start of file');
      if (from + by > this.#size) throw failure('TypeError', 'seeking beyond end of file');
      this.#at = from + by;
      return this.#at;
    }
  }

  async function open(path) {
    if (!native.isInit()) throw failure('ForbiddenError', 'open() failed; reason: opening a file is allowed only in the Init context');
    if (path === undefined || path === null || path === '') throw failure('TypeError', 'open() failed; reason: path cannot be empty');
    let handle;
    try {
      handle = native.open(String(path));
    } catch {
      throw failure('NotFoundError', `no such file or directory "${path}"`);
    }
    return new File(String(path), handle);
  }

  const settings = (options) => {
    const { delimiter = ',', skipFirstLine = false, fromLine = 0, toLine = 0, asObjects = false } = options ?? {};
    if (typeof delimiter !== 'string' || delimiter.length !== 1) native.fail('delimiter must be a single character');
    if (asObjects && skipFirstLine) native.fail("the 'header' option cannot be enabled when 'skipFirstLine' is true");
    if (asObjects && fromLine > 0) native.fail("the 'header' option cannot be enabled when 'fromLine' is set to a value greater than 0");
    if (fromLine < 0 || toLine < 0) native.fail("the 'fromLine' and 'toLine' options must be greater than or equal to 0");
    if (fromLine > 0 && toLine > 0 && fromLine >= toLine) native.fail("the 'fromLine' option must be less than the 'toLine' option");
    return [delimiter, skipFirstLine, fromLine, toLine, asObjects];
  };

  // All records, shared by all users.
  async function parse(file, options) {
    return native.records(file.path, File.handle(file), ...settings(options));
  }

  class Parser {
    #next;
    constructor(file, options) {
      if (!native.isInit()) native.fail('csv Parser constructor must be called in the init context');
      this.#next = native.reader(File.handle(file), ...settings(options));
    }
    async next() {
      const value = this.#next();
      return value === undefined ? { done: true, value: undefined } : { done: false, value };
    }
  }
  return { open, SeekMode, parse, Parser };
})
