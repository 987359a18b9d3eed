// How an expression may be written
import { Trend } from 'k6/metrics';
const trend = new Trend('trend');
export const options = { iterations: 1, thresholds: { trend: ['avg<10', ' avg < 10 ', 'avg<1e1', 'avg<10.0', 'avg>-1', 'p(95.5) < 10', 'avg>.5'] } };
export default function () { trend.add(5); }
