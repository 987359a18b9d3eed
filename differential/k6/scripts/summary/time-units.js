// summaryTimeUnit of the script: s, ms and us
import { Trend } from 'k6/metrics';
const trend = new Trend('own', true);
export const options = { iterations: 1, summaryTimeUnit: 'us' };
export default function () { trend.add(1.5); }
