// What may be used in init code only, and what not there
import http from 'k6/http';
import ws from 'k6/ws';
import { check, fail, group, sleep, randomSeed } from 'k6';
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
import { SharedArray } from 'k6/data';
const tried = (name, what) => {
  try { console.log(name, 'works', String(what())); } catch (error) { console.log(name, 'throws', error instanceof Error, error.name); }
};
if (__VU === 0) {
  tried('http.get', () => http.get(__ENV.TARGET));
  tried('http.batch', () => http.batch([__ENV.TARGET]));
  tried('http.cookieJar', () => typeof http.cookieJar());
  tried('new http.CookieJar', () => typeof new http.CookieJar());
  tried('http.file', () => http.file('a').filename.length > 0);
  tried('http.url', () => http.url`a${1}`.name);
  tried('http.setResponseCallback', () => http.setResponseCallback(http.expectedStatuses(200)));
  tried('ws.connect', () => ws.connect(__ENV.TARGET_WS, () => {}));
  tried('check', () => check(1, { one: () => true }));
  tried('group', () => group('a', () => 1));
  tried('fail', () => fail('on purpose'));
  tried('sleep', () => sleep(0.01));
  tried('randomSeed', () => randomSeed(1));
  tried('setTimeout', () => typeof setTimeout(() => {}, 1));
  tried('exec.vu.idInTest', () => exec.vu.idInTest);
  tried('exec.vu.tags', () => typeof exec.vu.tags);
  tried('exec.scenario.name', () => exec.scenario.name);
  tried('exec.instance.vusActive', () => exec.instance.vusActive);
  tried('exec.test.options', () => typeof exec.test.options);
  tried('exec.test.abort', () => typeof exec.test.abort);
}
export const options = { iterations: 1 };
export default function () {
  tried('open', () => open('_files/words.txt'));
  tried('new Counter', () => new Counter('late'));
  tried('new SharedArray', () => new SharedArray('late', () => [1]));
  tried('require', () => typeof require('k6/http'));
  tried('require of a file', () => typeof require('./_files/plain.cjs'));
}
export function handleSummary() { return {}; }
