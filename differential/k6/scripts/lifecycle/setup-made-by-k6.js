// What k6's own functions gave, returned by setup: jars, hashers, pages, elements of lists
import { json } from '../_files/lib/sorted.js';
import { createHash, createHMAC } from 'k6/crypto';
import { SharedArray } from 'k6/data';
import { parseHTML } from 'k6/html';
import http from 'k6/http';
import { randomBytes } from 'k6/crypto';
export const options = { iterations: 1 };
const list = new SharedArray('list', () => [{ a: 1 }, 'two']);
const made = {
  jar: () => http.cookieJar(),
  ownJar: () => new http.CookieJar(),
  address: () => http.url`http://127.0.0.1/${1}/x`,
  file: () => http.file('text', 'a.txt', 'text/plain'),
  statuses: () => http.expectedStatuses(200, { min: 300, max: 310 }),
  hasher: () => createHash('md5'),
  keyed: () => createHMAC('md5', 'k'),
  bytes: () => typeof randomBytes(2),
  element: () => list[0],
  page: () => http.get(`${__ENV.TARGET}/html`).html(),
  found: () => parseHTML('<a href="x">y</a>').find('a'),
  node: () => parseHTML('<a href="x">y</a>').find('a').get(0),
  nodes: () => parseHTML('<a href="x">y</a>').find('a').toArray(),
  promise: () => new Promise(() => {}),
  expression: () => /x/g,
  error: () => new Error('x'),
  buffer: () => new ArrayBuffer(2),
  view: () => new DataView(new ArrayBuffer(2)),
  weak: () => new WeakMap(),
  environment: () => typeof __ENV,
  parsed: () => http.get(`${__ENV.TARGET}/person`).json(),
  part: () => http.get(`${__ENV.TARGET}/person`).json('nested'),
  iterator: () => [1, 2][Symbol.iterator](),
};
export function setup() {
  const data = {};
  for (const [name, make] of Object.entries(made)) data[name] = make();
  return data;
}
export default function (data) {
  for (const name of Object.keys(data).sort()) console.log(name, Array.isArray(data[name]), json(data[name]));
}
