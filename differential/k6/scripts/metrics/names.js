// Names of metrics: which are taken, and twice the same
import { Counter, Trend } from 'k6/metrics';
for (const name of ['ok_1', '_under', 'a', 'with space', 'with-dash', '1first', 'x'.repeat(128), 'x'.repeat(129), 'ünï', '', 'http_reqs', 'dot.ted']) {
  try { new Counter(name); console.log(name.slice(0, 20), name.length, 'works'); } catch (error) { console.log(name.slice(0, 20), name.length, 'throws', error.name); }
}
for (const [what, make] of [['the same kind', () => new Counter('ok_1')], ['another kind', () => new Trend('ok_1')], ['a builtin of another kind', () => new Trend('http_reqs')], ['no name', () => new Counter()], ['without new', () => Counter('abc')], ['another unit', () => new Counter('ok_1', true)]]) {
  try { make(); console.log(what, 'works'); } catch (error) { console.log(what, 'throws', error.name); }
}
export const options = { iterations: 1 };
export default function () {}
export function handleSummary() { return {}; }
