// summaryTimeUnit
// env: K6_SUMMARY_TIME_UNIT=s
import { Trend } from 'k6/metrics';
const trend = new Trend('own', true);
export const options = { iterations: 1 };
export default function () { for (const value of [500, 1500]) trend.add(value); }
