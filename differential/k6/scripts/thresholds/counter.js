// Thresholds of a counter: count and rate
// quick
import { Counter } from 'k6/metrics';
const counter = new Counter('counter');
export const options = { iterations: 3, thresholds: { counter: ['count>2', 'count >= 3', 'count<=3', 'count == 3', 'count===3', 'count != 4', 'count<3', 'rate>0'] } };
export default function () { counter.add(1); }
