// k6/encoding: b64encode and b64decode in all their variants
import { b64encode, b64decode } from 'k6/encoding';
export const options = { iterations: 1 };
export default function () {
  const odd = new Uint8Array([251, 255, 254, 1]).buffer;
  for (const kind of ['std', 'rawstd', 'url', 'rawurl', undefined]) console.log(kind, b64encode('naïve?>', kind), b64encode(odd, kind), b64decode(b64encode('naïve?>', kind), kind, 's'), new Uint8Array(b64decode(b64encode(odd, kind), kind)).join());
  console.log(b64decode('YWJj') instanceof ArrayBuffer);
  for (const [name, what] of [['wrong text', () => b64decode('!!!')], ['wrong padding', () => b64decode('YQ')], ['wrong kind', () => b64encode('a', 'none')], ['number', () => b64encode(7)], ['empty', () => JSON.stringify(b64encode(''))]]) { try { console.log(name, String(what())); } catch (error) { console.log(name, 'throws', error.name); } }
}
