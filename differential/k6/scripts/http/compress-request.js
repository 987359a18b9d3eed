// compression of a request's body
// mask: base64 [A-Za-z0-9+/=]+
// mask: "content-length":"\d+"
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const text = 'x'.repeat(1000);
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, deflate']) {
    const r = http.post(`${__ENV.TARGET}/unpacked`, text, { compression });
    console.log(compression, r.status && r.json('coding'), r.status && r.json('same') < 1000);
  }
}
