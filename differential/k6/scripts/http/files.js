// http.file: any makes the body multipart
import http from 'k6/http';
const words = open('../_files/words.txt', 'b');
export const options = { iterations: 1 };
export default function () {
  const t = `${__ENV.TARGET}/files`;
  const file = http.file(words, 'words.txt', 'text/plain');
  console.log(Object.keys(file).sort().join(' '), file.filename, file.content_type, file.data instanceof ArrayBuffer);
  http.post(t, { upload: file, field: 'b', number: 7 });
  http.post(t, { only: http.file('text', 'a "quoted".json') });
  http.post(t, { bytes: http.file(new Uint8Array([0, 255]).buffer, 'x.bin', 'application/x-own') });
  const bare = http.file('x');
  console.log(/^\d+$/.test(bare.filename), bare.content_type);
}
