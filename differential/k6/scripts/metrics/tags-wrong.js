// Tags of a sample that cannot be
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 6 };
export default function () { counter.add(1, [{ a: { b: 1 } }, 'text', { a: null }, { a: undefined }, 7, { '': 'x', a: ['b'] }][__ITER]); console.log('works', __ITER); }
