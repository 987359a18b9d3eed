// httpbin: packings, encodings, streams, statuses, delays
// target: httpbin
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const h = __ENV.HTTPBIN;
  console.log(http.get(`${h}/gzip`).json('gzipped'), http.get(`${h}/deflate`).json('deflated'), http.get(`${h}/encoding/utf8`).body.length > 1000);
  console.log(http.get(`${h}/stream/3`).body.trim().split('\n').length, http.get(`${h}/bytes/64?seed=7`, { responseType: 'binary' }).body.byteLength, http.get(`${h}/stream-bytes/100?seed=1`, { responseType: 'binary' }).body.byteLength);
  console.log(http.get(`${h}/status/418`).status, http.get(`${h}/delay/0.3`).timings.waiting > 250, http.get(`${h}/drip?numbytes=5&duration=0.3&delay=0.1`).body.length, http.get(`${h}/unstable?failure_rate=1`).status);
  console.log(http.get(`${h}/html`).html('h1').text(), http.get(`${h}/json`).json('slideshow.slides.#.title').join('|'), http.get(`${h}/xml`).headers['Content-Type']);
  console.log(http.get(`${h}/cache`, { headers: { 'If-None-Match': 'x' } }).status, http.get(`${h}/etag/abc`, { headers: { 'If-None-Match': '"abc"' } }).status, http.get(`${h}/range/26`, { headers: { Range: 'bytes=1-5' } }).body, http.get(`${h}/response-headers?X-One=a`).headers['X-One']);
}
