// throw: add() of what is no number throws
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 1, throw: true };
export default function () { try { counter.add('seven'); console.log('works'); } catch (error) { console.log('throws', error.name); } }
