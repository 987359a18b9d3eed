// k6, k6/encoding, k6/crypto: arguments that are missing or of another type
import { check, sleep } from 'k6';
import encoding from 'k6/encoding';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
export const options = { iterations: 1 };
const tried = (name, what) => { try { const value = what(); console.log(name, typeof value === 'string' ? value : JSON.stringify(value)); } catch (error) { console.log(name, 'throws', error.name, error.message); } };
export default function () {
  tried('sleep', () => sleep());
  tried('check', () => check());
  tried('check of one', () => check(1));
  tried('b64encode', () => encoding.b64encode());
  tried('b64encode of null', () => encoding.b64encode(null));
  tried('b64encode of a number', () => encoding.b64encode(5));
  tried('b64encode of an object', () => encoding.b64encode({}));
  tried('b64decode', () => encoding.b64decode('!!'));
  tried('hash without encoding', () => crypto.md5('a'));
  tried('hash of another encoding', () => crypto.md5('a', 'x'));
  tried('randomBytes', () => crypto.randomBytes(0));
  tried('tag', () => { exec.vu.metrics.tags.x = {}; });
  tried('metadata', () => { exec.vu.metrics.metadata.x = {}; });
}
