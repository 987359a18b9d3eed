// Bodies that are collections and other objects of the language
import http from 'k6/http';
export const options = { iterations: 1 };
export default function () {
  const all = { i8: new Int8Array([65]), clamped: new Uint8ClampedArray([65]), u16: new Uint16Array([65]), i32: new Int32Array(1), f64: new Float64Array([1]), big: new BigInt64Array(1), set: new Set([1]), map: new Map([['a', 1]]), part: new Uint8Array([65, 66, 67, 68]).subarray(1, 3), regexp: /a/ };
  for (const [name, body] of Object.entries(all)) { const r = http.post(`${__ENV.TARGET}/x`, body); console.log(name, r.status, r.error); }
}
