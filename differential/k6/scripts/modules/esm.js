// Imports of one's own files: ESM, CommonJS, JSON by open, relative to the file, each once
import { one, count } from '../_files/lib/one.js';
import everything, * as named from '../_files/lib/two.js';
import plain from '../_files/plain.cjs';
console.log('main', one, count(), everything, Object.keys(named).sort().join(), plain.word);
const data = JSON.parse(open('../_files/data.json'));
export const options = { iterations: 1 };
export default function () { console.log(data.list.length, count()); }
export function handleSummary() { return {}; }
