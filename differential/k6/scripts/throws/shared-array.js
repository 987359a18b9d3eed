// A SharedArray whose function throws or gives no array
import { SharedArray } from 'k6/data';
for (const [name, make] of [['throws', () => { throw new Error('in a SharedArray'); }], ['object', () => ({ a: 1 })], ['nothing', undefined], ['', () => []], ['async', async () => []]]) {
  try { new SharedArray(name, make); console.log(name, 'works'); } catch (error) { console.log(name, 'throws', error instanceof Error); }
}
export const options = { iterations: 1 };
export default function () {}
export function handleSummary() { return {}; }
