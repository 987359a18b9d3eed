// k6/crypto: hashes, hmac, createHash, createHMAC, in every encoding
// quick
import crypto, { sha256, md5, hmac, createHash, createHMAC } from 'k6/crypto';
export const options = { iterations: 1 };
export default function () {
  const bytes = new Uint8Array([1, 2, 3]).buffer;
  for (const name of ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) console.log(name, crypto[name]('words', 'hex'), crypto[name](bytes, 'base64').length);
  for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl']) console.log(encoding, sha256('words', encoding), hmac('sha256', 'key', 'words', encoding));
  console.log(sha256('words', 'binary') instanceof ArrayBuffer, new Uint8Array(md5('words', 'binary')).length);
  const hash = createHash('sha1'); hash.update('wo'); hash.update('rds'); console.log(hash.digest('hex'), crypto.sha1('words', 'hex') === hash.digest('hex'));
  const mac = createHMAC('sha512', bytes); mac.update('words'); console.log(mac.digest('hex').length);
  for (const name of ['md5', 'sha1', 'sha384', 'sha512', 'ripemd160']) console.log(name, hmac(name, 'k', 'd', 'hex'));
  for (const [name, what] of [['no encoding', () => sha256('words')], ['unknown encoding', () => sha256('words', 'none')], ['hexEncode', () => crypto.hexEncode(bytes)], ['number', () => sha256(7, 'hex')]]) { try { console.log(name, typeof what(), String(what()).slice(0, 20)); } catch (error) { console.log(name, 'throws', error.name); } }
  const random = crypto.randomBytes(8); console.log(random instanceof ArrayBuffer, random.byteLength, new Uint8Array(random).join() !== new Uint8Array(crypto.randomBytes(8)).join());
  for (const size of [0, -1]) { try { console.log(crypto.randomBytes(size).byteLength); } catch (error) { console.log(size, 'throws', error.name); } }
}
