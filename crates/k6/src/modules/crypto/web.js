// The global `crypto` as the Web Cryptography API describes it; `native` does the arithmetic.
(function (native) {
  const HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
  const BLOCKS = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 };
  const AES = ['AES-CBC', 'AES-CTR', 'AES-GCM'];
  const CIPHER_USAGES = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];
  const USAGES = { HMAC: ['sign', 'verify'], PBKDF2: ['deriveKey', 'deriveBits'] };
  for (const name of AES) USAGES[name] = CIPHER_USAGES;

  const failure = (name, message) => Object.defineProperty(new Error(message), 'name', { value: name });
  const unsupported = (what) => failure('NotSupportedError', `${what} is not supported`);

  const bytes = (data, what) => {
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw new TypeError(`${what} must be an ArrayBuffer or a view of one`);
  };
  const copy = (data) => bytes(data, 'data').slice();

  const algorithmOf = (given, known) => {
    const wanted = typeof given === 'string' ? { name: given } : given;
    if (typeof wanted !== 'object' || wanted === null || typeof wanted.name !== 'string') {
      throw failure('SyntaxError', 'an algorithm must be a name or an object that has one');
    }
    const name = known.find((one) => one.toUpperCase() === wanted.name.toUpperCase());
    if (name === undefined) throw unsupported(`the algorithm ${wanted.name} here`);
    return { ...wanted, name };
  };
  const hashOf = (algorithm) => {
    if (algorithm.hash === undefined) throw failure('SyntaxError', 'the algorithm needs a hash');
    return algorithmOf(algorithm.hash, HASHES).name;
  };

  class CryptoKey {
    #data;
    constructor(algorithm, data, extractable, usages, type = 'secret') {
      this.type = type;
      this.extractable = Boolean(extractable);
      this.algorithm = algorithm;
      this.usages = usages;
      this.#data = data;
    }
    static data(key, algorithm, usage) {
      if (typeof key !== 'object' || key === null || !(#data in key)) {
        throw failure('InvalidAccessError', 'the key is no CryptoKey');
      }
      if (algorithm !== undefined && key.algorithm.name !== algorithm) {
        throw failure('InvalidAccessError', `a key for ${key.algorithm.name} is none for ${algorithm}`);
      }
      if (usage !== undefined && !key.usages.includes(usage)) {
        throw failure('InvalidAccessError', `the key's usages do not include ${usage}`);
      }
      return key.#data;
    }
  }

  const pairs = native.asymmetric(native, { failure, unsupported, bytes, hashOf, CryptoKey });

  const checkedUsages = (name, usages) => {
    const allowed = USAGES[name];
    const wrong = [...usages].find((usage) => !allowed.includes(usage));
    if (wrong !== undefined) throw failure('SyntaxError', `a key for ${name} is not used to ${wrong}`);
    if (usages.length === 0) throw failure('SyntaxError', 'a secret key needs usages');
    return allowed.filter((usage) => usages.includes(usage));
  };
  const aesLength = (bits, name) => {
    if (![128, 192, 256].includes(bits)) throw failure(name, 'an AES key has 128, 192 or 256 bits');
    return bits;
  };

  // The members by which a key of this algorithm, of so many bits, describes itself.
  const described = (algorithm, bits) => {
    if (algorithm.name === 'HMAC') return { name: 'HMAC', hash: { name: hashOf(algorithm) }, length: bits };
    if (algorithm.name === 'PBKDF2') return { name: 'PBKDF2' };
    return { name: algorithm.name, length: aesLength(bits, 'DataError') };
  };

  const fromJwk = (jwk) => {
    if (typeof jwk !== 'object' || jwk === null || jwk.kty !== 'oct' || typeof jwk.k !== 'string') {
      throw failure('DataError', "the key is no JSON Web Key of the type 'oct'");
    }
    const data = native.fromBase64(jwk.k);
    if (data === undefined) throw failure('DataError', 'the key is no base64url text');
    return new Uint8Array(data);
  };
  const jwkName = ({ name, hash, length }) =>
    name === 'HMAC' ? `HS${hash.name.slice(4)}` : `A${length}${name.slice(4)}`;

  const cipher = (encrypts, usage) => async (given, key, data) => {
    const algorithm = algorithmOf(given, AES);
    const secret = CryptoKey.data(key, algorithm.name, usage);
    const iv = bytes(algorithm.name === 'AES-CTR' ? algorithm.counter : algorithm.iv, 'iv or counter');
    const also = algorithm.additionalData === undefined ? new Uint8Array(0) : bytes(algorithm.additionalData, 'additionalData');
    let tag = 0;
    if (algorithm.name === 'AES-GCM') {
      tag = algorithm.tagLength ?? 128;
      if (iv.length !== 12) throw unsupported('an iv of other than 12 bytes');
      if (![96, 104, 112, 120, 128].includes(tag)) throw failure('OperationError', `a tag cannot have ${tag} bits`);
    } else if (iv.length !== 16) {
      throw failure('OperationError', 'iv and counter must have 16 bytes');
    } else if (algorithm.name === 'AES-CTR' && !(algorithm.length >= 1 && algorithm.length <= 128)) {
      throw failure('OperationError', 'length must be from 1 to 128');
    }
    const made = native.aes(algorithm.name, encrypts, secret, iv, bytes(data, 'data'), also, tag / 8);
    if (made === undefined) throw failure('OperationError', 'the operation failed');
    return made;
  };

  const deriveBits = (given, key, bits, usage) => {
    const algorithm = algorithmOf(given, ['PBKDF2']);
    const secret = CryptoKey.data(key, 'PBKDF2', usage);
    if (!(bits > 0) || bits % 8 !== 0) throw failure('OperationError', 'length must be a multiple of 8');
    if (!(algorithm.iterations > 0)) throw failure('OperationError', 'iterations must be more than 0');
    return native.pbkdf2(hashOf(algorithm), secret, bytes(algorithm.salt, 'salt'), algorithm.iterations, bits / 8);
  };

  const importKey = async (format, keyData, given, extractable, usages) => {
    const algorithm = algorithmOf(given, [...Object.keys(USAGES), ...pairs.names]);
    if (pairs.names.includes(algorithm.name)) return pairs.importKey(format, keyData, algorithm, extractable, usages);
    if (format !== 'raw' && (format !== 'jwk' || algorithm.name === 'PBKDF2')) throw unsupported(`the format ${format} of a key`);
    const allowed = checkedUsages(algorithm.name, usages);
    const data = format === 'raw' ? copy(keyData) : fromJwk(keyData);
    if (data.length === 0 && algorithm.name !== 'PBKDF2') throw failure('DataError', 'the key is empty');
    return new CryptoKey(described(algorithm, data.length * 8), data, extractable, allowed);
  };

  const exportKey = async (format, key) => {
    const data = CryptoKey.data(key);
    if (!key.extractable) throw failure('InvalidAccessError', 'the key cannot be exported');
    if (key.type !== 'secret') return pairs.exportKey(format, key, data);
    if (format === 'raw') return data.slice().buffer;
    if (format !== 'jwk') throw unsupported(`the format ${format} of a key`);
    const { extractable: ext, usages } = key;
    return { kty: 'oct', k: native.toBase64(data), alg: jwkName(key.algorithm), ext, key_ops: [...usages] };
  };

  const generateKey = async (given, extractable, usages) => {
    const algorithm = algorithmOf(given, ['HMAC', ...AES, ...pairs.names]);
    if (pairs.names.includes(algorithm.name)) return pairs.generateKey(algorithm, extractable, usages);
    const allowed = checkedUsages(algorithm.name, usages);
    let bits = algorithm.length;
    if (algorithm.name === 'HMAC') {
      bits ??= BLOCKS[hashOf(algorithm)];
      if (!(bits > 0)) throw failure('OperationError', 'length must be more than 0');
    } else {
      aesLength(bits, 'OperationError');
    }
    const data = new Uint8Array(native.random(Math.ceil(bits / 8)));
    return new CryptoKey(described(algorithm, bits), data, extractable, allowed);
  };

  const sign = (given, key, data, usage) => {
    const algorithm = algorithmOf(given, ['HMAC', ...pairs.names]);
    const secret = CryptoKey.data(key, algorithm.name, usage);
    if (algorithm.name !== 'HMAC') return pairs.sign(algorithm, key, secret, data);
    return native.hmac(key.algorithm.hash.name, secret, bytes(data, 'data'));
  };

  const subtle = {
    encrypt: cipher(true, 'encrypt'),
    decrypt: cipher(false, 'decrypt'),
    sign: async (algorithm, key, data) => sign(algorithm, key, data, 'sign'),
    async verify(given, key, signature, data) {
      const algorithm = algorithmOf(given, ['HMAC', ...pairs.names]);
      if (algorithm.name !== 'HMAC') return pairs.verify(algorithm, key, CryptoKey.data(key, algorithm.name, 'verify'), signature, data);
      const [claimed, made] = [bytes(signature, 'signature'), new Uint8Array(sign(algorithm, key, data, 'verify'))];
      return claimed.length === made.length && made.every((byte, at) => byte === claimed[at]);
    },
    digest: async (algorithm, data) => native.digest(algorithmOf(algorithm, HASHES).name, bytes(data, 'data')),
    generateKey,
    async deriveKey(algorithm, key, derived, extractable, usages) {
      const wanted = algorithmOf(derived, ['HMAC', ...AES]);
      const bits = wanted.length ?? BLOCKS[wanted.name === 'HMAC' ? hashOf(wanted) : ''];
      const data = deriveBits(algorithm, key, bits, 'deriveKey');
      return importKey('raw', data, wanted, extractable, usages);
    },
    deriveBits: async (algorithm, key, bits) => deriveBits(algorithm, key, bits, 'deriveBits'),
    importKey,
    exportKey,
    async wrapKey() {
      throw unsupported('wrapKey');
    },
    async unwrapKey() {
      throw unsupported('unwrapKey');
    },
  };

  const INTEGERS = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array];
  return {
    subtle,
    getRandomValues(array) {
      if (!INTEGERS.some((type) => array instanceof type)) {
        throw failure('GoError', 'TypeMismatchError: getRandomValues takes an array of integers');
      }
      if (array.byteLength > 65536) throw failure('GoError', 'QuotaExceededError: at most 65536 bytes at a time');
      bytes(array).set(new Uint8Array(native.random(array.byteLength)));
      return array;
    },
    randomUUID: native.uuid,
  };
})
