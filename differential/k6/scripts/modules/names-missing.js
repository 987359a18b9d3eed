// Names that a module of k6 or a CommonJS file does not have
// quick
import ws, { WebSocketError } from 'k6/ws';
import http, { fetch, get } from 'k6/http';
import { nothing } from 'k6';
import { Counter, Histogram } from 'k6/metrics';
import exec, { nobody } from 'k6/execution';
import { sha3 as renamed, sha256 } from 'k6/crypto';
import { parse } from 'k6/html';
import * as all from 'k6/encoding';
import plain, { word, other } from '../_files/plain.cjs';
export { nope } from 'k6/data';
console.log(typeof ws.connect, WebSocketError, typeof http.get, typeof get, fetch, nothing, typeof Counter, Histogram, typeof exec, nobody, renamed, typeof sha256, parse);
console.log(all.nothing, 'nothing' in all, plain.word === word, other);
export const options = { iterations: 1 };
export default function () { try { nothing(); } catch (error) { console.log(error.name); } }
export function handleSummary() { return {}; }
