// summaryTrendStats in the script, and all that there are
import { Trend } from 'k6/metrics';
const trend = new Trend('own');
export const options = { iterations: 1, summaryTrendStats: ['count', 'min', 'max', 'avg', 'med', 'p(0)', 'p(50)', 'p(99.9)', 'p(100)'] };
export default function () { for (const value of [5, 1, 4, 2, 3, 10]) trend.add(value); }
