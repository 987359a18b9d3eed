// open: texts, bytes, relative to the script; what is not there
const text = open('../_files/words.txt');
const bytes = open('../_files/words.txt', 'b');
try { open('../_files/none.txt'); } catch (error) { console.log('throws', error instanceof Error); }
for (const wrong of ['', '../_files']) { try { open(wrong); console.log('works'); } catch (error) { console.log('throws'); } }
console.log(typeof import.meta.url, import.meta.resolve('../_files/words.txt').split('/').slice(-2).join('/'));
export const options = { iterations: 1 };
export default function () { console.log(JSON.stringify(text), bytes instanceof ArrayBuffer, bytes.byteLength); }
export function handleSummary() { return {}; }
