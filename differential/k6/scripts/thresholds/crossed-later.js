// What the line behind the summary says of several crossed thresholds
import { Counter } from 'k6/metrics';
new Counter('aa'); new Counter('bb');
export const options = { iterations: 1, thresholds: { bb: ['count>0'], aa: ['count>0'], iterations: ['count>0'] } };
export default function () {}
