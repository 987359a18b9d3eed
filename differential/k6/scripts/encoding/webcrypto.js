// WebCrypto: digest, HMAC, AES, ECDSA, PBKDF2, random values
import { b64encode } from 'k6/encoding';
export const options = { iterations: 1 };
const text = (t) => new TextEncoder().encode(t);
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
export default async function () {
  const { subtle } = crypto;
  for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) console.log(name, hex(await subtle.digest(name, text('words'))).slice(0, 16));
  const mac = await subtle.importKey('raw', text('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const signature = await subtle.sign('HMAC', mac, text('words'));
  console.log(hex(signature), await subtle.verify('HMAC', mac, signature, text('words')), mac.type, mac.extractable);
  const aes = await subtle.importKey('raw', text('0123456789abcdef'), 'AES-CBC', true, ['encrypt', 'decrypt']);
  const sealed = await subtle.encrypt({ name: 'AES-CBC', iv: text('abcdefghijklmnop') }, aes, text('words'));
  console.log(hex(sealed), new TextDecoder().decode(await subtle.decrypt({ name: 'AES-CBC', iv: text('abcdefghijklmnop') }, aes, sealed)));
  const gcm = await subtle.importKey('raw', text('0123456789abcdef'), 'AES-GCM', true, ['encrypt', 'decrypt']);
  console.log(hex(await subtle.encrypt({ name: 'AES-GCM', iv: text('abcdefghijkl') }, gcm, text('words'))));
  const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const signed = await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, text('words'));
  console.log(signed.byteLength, await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, signed, text('words')), (await subtle.exportKey('jwk', pair.publicKey)).kty);
  const password = await subtle.importKey('raw', text('password'), 'PBKDF2', false, ['deriveBits']);
  console.log(hex(await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: text('salt'), iterations: 10 }, password, 128)));
  const random = crypto.getRandomValues(new Uint8Array(4));
  console.log(random.length, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/.test(crypto.randomUUID()));
  try { await subtle.digest('MD5', text('x')); } catch (error) { console.log('rejects', error.name); }
  try { crypto.getRandomValues(new Float32Array(1)); } catch (error) { console.log('throws', error.name); }
}
