// --summary-trend-stats
// flags: --summary-trend-stats avg,p(99)
import { Trend } from 'k6/metrics';
const trend = new Trend('own', true);
export const options = { iterations: 1 };
export default function () { for (const value of [5, 1, 4]) trend.add(value); }
