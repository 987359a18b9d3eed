// What the line behind the summary says of several crossed thresholds
import { Counter } from 'k6/metrics';
new Counter('a'); new Counter('b');
export const options = { iterations: 1, thresholds: { b: ['count>0'], a: ['count>0'], iterations: ['count>0'] } };
export default function () {}
