// Keys in pairs: ECDSA over P-256 and P-384, RSA signatures.
(function (native, { failure, unsupported, bytes, hashOf, CryptoKey }) {
  const CURVES = {
    // The bytes before the key in DER: before a public one, before a private one, and between that and its public one.
    'P-256': {
      size: 32,
      hash: 'SHA-256',
      spki: '3059301306072a8648ce3d020106082a8648ce3d030107034200',
      pkcs8: '308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420',
      between: 'a144034200',
    },
    'P-384': {
      size: 48,
      hash: 'SHA-384',
      spki: '3076301006072a8648ce3d020106052b81040022036200',
      pkcs8: '3081b6020100301006072a8648ce3d020106052b8104002204819e30819b0201010430',
      between: 'a164036200',
    },
  };
  const RSA = ['RSASSA-PKCS1-v1_5', 'RSA-PSS'];
  const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi'];

  const unhex = (text) => Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(at * 2, at * 2 + 2), 16));
  const joined = (...parts) => {
    const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  };
  const startsWith = (data, head) => data.length >= head.length && head.every((byte, at) => byte === data[at]);
  const wrongData = (what) => failure('DataError', what);
  const member = (jwk, name) => {
    const data = typeof jwk[name] === 'string' ? native.fromBase64(jwk[name]) : undefined;
    if (data === undefined) throw wrongData(`the key's ${name} is no base64url text`);
    return new Uint8Array(data);
  };
  const usagesOf = (type, usages) => {
    const allowed = type === 'private' ? 'sign' : 'verify';
    if ([...usages].some((usage) => usage !== allowed)) throw failure('SyntaxError', `a ${type} key is only used to ${allowed}`);
    if (type === 'private' && usages.length === 0) throw failure('SyntaxError', 'a private key needs usages');
    return [...usages];
  };
  const pairUsages = (usages) => {
    if ([...usages].some((usage) => usage !== 'sign' && usage !== 'verify')) throw failure('SyntaxError', 'the keys are only used to sign and verify');
    if (!usages.includes('sign')) throw failure('SyntaxError', 'a private key needs usages');
    return (usage) => (usages.includes(usage) ? [usage] : []);
  };

  const curveOf = (name) => CURVES[name] ?? (() => { throw unsupported(`the curve ${name}`); })();
  const checkedPoint = (point, size) => {
    if (point.length !== size * 2 + 1 || point[0] !== 4) throw wrongData('the public key is no uncompressed point of its curve');
    return point;
  };
  // `{ d, point }`, without `d` for a public key.
  const ecKey = (format, keyData, name) => {
    const curve = curveOf(name);
    if (format === 'jwk') {
      if (keyData?.kty !== 'EC' || keyData.crv !== name) throw wrongData(`the key is no JSON Web Key of the curve ${name}`);
      const point = joined([4], member(keyData, 'x'), member(keyData, 'y'));
      return { point: checkedPoint(point, curve.size), d: keyData.d === undefined ? undefined : member(keyData, 'd') };
    }
    const data = bytes(keyData, 'the key').slice();
    if (format === 'raw') return { point: checkedPoint(data, curve.size) };
    if (format === 'spki') {
      const head = unhex(curve.spki);
      if (!startsWith(data, head)) throw wrongData(`the key is no public one of the curve ${name}`);
      return { point: checkedPoint(data.slice(head.length), curve.size) };
    }
    if (format !== 'pkcs8') throw unsupported(`the format ${format} of a key`);
    const head = unhex(curve.pkcs8);
    const at = head.length + curve.size;
    if (!startsWith(data, head) || !startsWith(data.slice(at), unhex(curve.between))) throw wrongData(`the key is no private one of the curve ${name} with its public one`);
    return { d: data.slice(head.length, at), point: checkedPoint(data.slice(at + unhex(curve.between).length), curve.size) };
  };
  const exportedEc = (format, type, { d, point }, key) => {
    const { namedCurve } = key.algorithm;
    const { size, spki, pkcs8, between } = CURVES[namedCurve];
    if (format === 'jwk') {
      const [x, y] = [point.slice(1, size + 1), point.slice(size + 1)].map(native.toBase64);
      const own = type === 'private' ? { d: native.toBase64(d) } : {};
      return { kty: 'EC', crv: namedCurve, x, y, ...own, ext: key.extractable, key_ops: [...key.usages] };
    }
    if (format === 'raw' && type === 'public') return point.slice().buffer;
    if (format === 'spki' && type === 'public') return joined(unhex(spki), point).buffer;
    if (format === 'pkcs8' && type === 'private') return joined(unhex(pkcs8), d, unhex(between), point).buffer;
    throw unsupported(`the format ${format} of a ${type} key`);
  };

  // The content of the DER element at `at`, and where it ends.
  const element = (data, at, tag) => {
    let [length, from] = [data[at + 1], at + 2];
    if (length > 0x80) {
      const count = length - 0x80;
      length = data.slice(from, from + count).reduce((sum, byte) => sum * 256 + byte, 0);
      from += count;
    }
    if (data[at] !== tag || !(from + length <= data.length)) throw wrongData('the key is no DER of a public key');
    return { content: data.slice(from, from + length), end: from + length };
  };
  const bare = (number) => (number[0] === 0 ? number.slice(1) : number);
  const rsaKey = (format, keyData) => {
    if (format === 'jwk') {
      if (keyData?.kty !== 'RSA') throw wrongData("the key is no JSON Web Key of the type 'RSA'");
      const [n, e] = [member(keyData, 'n'), member(keyData, 'e')];
      return { n, e, own: keyData.d === undefined ? undefined : [n, e, ...PRIVATE.map((name) => member(keyData, name))] };
    }
    const data = bytes(keyData, 'the key').slice();
    if (format === 'pkcs8') return { own: [data] };
    if (format !== 'spki') throw unsupported(`the format ${format} of a key`);
    const { content } = element(data, 0, 0x30);
    const bits = element(content, element(content, 0, 0x30).end, 0x03).content;
    const pair = element(bits.slice(1), 0, 0x30).content;
    const n = element(pair, 0, 0x02);
    return { n: bare(n.content), e: bare(element(pair, n.end, 0x02).content) };
  };

  // A signature has the hash its curve goes with; there are no others here.
  const ecHash = (algorithm, { namedCurve }) => {
    if (hashOf(algorithm) !== CURVES[namedCurve].hash) throw unsupported(`${hashOf(algorithm)} with the curve ${namedCurve}`);
  };
  return {
    names: ['ECDSA', ...RSA],
    importKey(format, keyData, algorithm, extractable, usages) {
      if (algorithm.name === 'ECDSA') {
        const data = ecKey(format, keyData, algorithm.namedCurve);
        const type = data.d === undefined ? 'public' : 'private';
        if (type === 'private' && !native.ecIsPair(algorithm.namedCurve, data.d, data.point)) throw wrongData('the key does not go with its public one');
        return new CryptoKey({ name: 'ECDSA', namedCurve: algorithm.namedCurve }, data, extractable, usagesOf(type, usages), type);
      }
      const hash = { name: hashOf(algorithm) };
      const data = rsaKey(format, keyData);
      const type = data.own === undefined ? 'public' : 'private';
      return new CryptoKey({ name: algorithm.name, hash }, data, extractable, usagesOf(type, usages), type);
    },
    exportKey(format, key, data) {
      if (key.algorithm.name !== 'ECDSA') throw unsupported('the export of an RSA key');
      return exportedEc(format, key.type, data, key);
    },
    generateKey(algorithm, extractable, usages) {
      if (algorithm.name !== 'ECDSA') throw unsupported('the making of an RSA key');
      const { namedCurve } = algorithm;
      const { size, pkcs8, between } = curveOf(namedCurve);
      const only = pairUsages(usages);
      const made = new Uint8Array(native.ecGenerate(namedCurve));
      const [from, at] = [unhex(pkcs8).length, made.length - size * 2 - 1];
      const data = { d: made.slice(from, from + size), point: made.slice(at) };
      if (from + size + unhex(between).length !== at) throw failure('OperationError', 'the key has an unknown form');
      const own = { name: 'ECDSA', namedCurve };
      return {
        privateKey: new CryptoKey(own, data, extractable, only('sign'), 'private'),
        publicKey: new CryptoKey(own, { point: data.point }, true, only('verify'), 'public'),
      };
    },
    sign(algorithm, key, secret, data) {
      if (key.type !== 'private') throw failure('InvalidAccessError', 'only private keys sign');
      const isEc = algorithm.name === 'ECDSA';
      if (isEc) ecHash(algorithm, key.algorithm);
      const made = isEc
        ? native.ecSign(key.algorithm.namedCurve, secret.d, secret.point, bytes(data, 'data'))
        : native.rsaSign(algorithm.name, key.algorithm.hash.name, secret.own, bytes(data, 'data'));
      if (made === undefined) throw failure('OperationError', 'the key cannot sign this');
      return made;
    },
    verify(algorithm, key, given, signature, data) {
      if (key.type !== 'public') throw failure('InvalidAccessError', 'only public keys verify');
      const [signed, content] = [bytes(signature, 'signature'), bytes(data, 'data')];
      if (algorithm.name !== 'ECDSA') return native.rsaVerify(algorithm.name, key.algorithm.hash.name, given.n, given.e, signed, content);
      ecHash(algorithm, key.algorithm);
      return native.ecVerify(key.algorithm.namedCurve, given.point, signed, content);
    },
  };
})
