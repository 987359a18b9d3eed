// Files in folders: `require` looks from the file it is written in, `open` from the file that runs
// order: connections
// quick
import * as a from '../_files/folders/a.js';
import { text, need } from '../_files/folders/typed.ts';
const common = require('../_files/folders/deep/e.cjs');
const sorted = (module) => JSON.stringify(Object.keys(module).sort().map((name) => [name, typeof module[name] === 'function' ? 'f' : module[name]]));
console.log(sorted(a), sorted(common), text);
console.log(a.load('../_files/words.txt').split('\n')[0], common.load('../_files/words.txt').split('\n')[0]);
console.log(a.need('./h.js').text, common.need('../h.js').text, need('./deep/e.cjs').top);
for (const [what, wrong] of [['load', () => a.load('t.txt')], ['need', () => a.need('../_files/folders/h.js')]]) try { wrong(); } catch (error) { console.log(what, 'throws', error.name); }
export const options = { vus: 2, iterations: 2 };
export default function () {
  for (const late of [() => a.load('t.txt'), () => a.need('./h.js')]) try { late(); } catch (error) { console.log(error.name); }
}
export function handleSummary() { return {}; }
