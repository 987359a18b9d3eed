// TextEncoder and TextDecoder
export const options = { iterations: 1 };
export default function () {
  const bytes = new TextEncoder().encode('naïve 🌧');
  console.log(bytes.join(), bytes instanceof Uint8Array, new TextEncoder().encoding, new TextDecoder().encoding);
  console.log(new TextDecoder().decode(bytes), new TextDecoder('utf-16le').decode(new Uint8Array([97, 0, 98, 0])), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97])), JSON.stringify(new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 97]))));
  console.log(new TextDecoder().decode(new Uint8Array([255, 97])));
  for (const what of [() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])), () => new TextDecoder('none')]) { try { what(); console.log('works'); } catch (error) { console.log('throws', error.name); } }
  const result = new TextEncoder().encodeInto?.('abc', new Uint8Array(2));
  console.log(JSON.stringify(result));
}
