// Constructors that are called without new, and a class that extends one
import { json } from '../_files/lib/sorted.js';
import http from 'k6/http';
import { SharedArray } from 'k6/data';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import * as metrics from 'k6/metrics';
import { WebSocket, Blob } from 'k6/websockets';
import * as sockets from 'k6/websockets';
import { ReadableStream, ReadableStreamDefaultReader, CountQueuingStrategy } from 'k6/experimental/streams';
import csv from 'k6/experimental/csv';
export const options = { iterations: 1 };
// Init code runs as often as there are users, and its lines are said by the iteration.
const said = [];
const say = (...words) => said.push(words.join(' '));
const tried = (what, make) => {
  try {
    const made = make();
    say(what, 'gives', typeof made);
    return made;
  } catch (error) {
    say(what, 'throws', error.name);
    return undefined;
  }
};
const own = { Counter: (name) => Counter(name), Gauge: (name) => Gauge(name), Rate: (name) => Rate(name), Trend: (name) => Trend(name, true), of: (name) => metrics.Counter(name), called: (name) => Counter.call(undefined, name) };
const made = Object.entries(own).map(([name, make]) => tried(name, () => make(`own_${name}`)));
const fresh = new Counter('fresh');
say(fresh instanceof Counter, made[0] instanceof Counter, typeof Counter.prototype, typeof Counter);
class Own extends Counter {
  constructor() {
    super('extended');
    this.more = 1;
  }
}
const extended = new Own();
say(typeof extended.add, extended.more, extended instanceof Own, extended.name);
const list = tried('SharedArray', () => SharedArray('list', () => [1, 2]));
say(list.length, list[1], Array.isArray(list), typeof SharedArray.prototype, list instanceof SharedArray);
tried('Parser', () => csv.Parser({}, {}));
export default function () {
  for (const line of said.splice(0)) console.log(line);
  for (const metric of made) metric.add(1);
  extended.add(1);
  tried('CookieJar', () => http.CookieJar());
  const { CookieJar } = http;
  console.log(json(tried('bare CookieJar', () => CookieJar()).cookiesForURL('http://a.test/')), typeof CookieJar.prototype, new CookieJar() instanceof CookieJar);
  console.log(tried('TextEncoder', () => TextEncoder()).encode('ab').join(), TextEncoder.prototype.constructor === TextEncoder);
  console.log(tried('TextDecoder', () => TextDecoder('utf-8')).decode(new Uint8Array([97, 98])));
  const blob = tried('Blob', () => Blob(['a', 'bc'], { type: 'text/plain' }));
  console.log(blob.size, blob.type);
  console.log(tried('CountQueuingStrategy', () => CountQueuingStrategy({ highWaterMark: 3 })).highWaterMark);
  console.log(tried('ReadableStream', () => ReadableStream({ start(controller) { controller.enqueue('x'); controller.close(); } })).locked);
  tried('ReadableStreamDefaultReader', () => ReadableStreamDefaultReader(new ReadableStream({})));
  const all = [tried('WebSocket', () => WebSocket(`${__ENV.TARGET_WS}/echo`)), tried('sockets.WebSocket', () => sockets.WebSocket(`${__ENV.TARGET_WS}/echo`))];
  for (const one of all) {
    one.onopen = () => one.close();
    one.onclose = () => console.log('closed');
  }
  tried('WebSocket of nothing', () => WebSocket());
  for (const line of said) console.log(line);
}
