// A trend has no count that a threshold could use
import { Trend } from 'k6/metrics';
const trend = new Trend('trend');
export const options = { iterations: 1, thresholds: { trend: ['count==1'] } };
export default function () { trend.add(1); }
