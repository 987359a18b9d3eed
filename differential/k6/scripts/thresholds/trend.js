// Thresholds of a trend: avg, min, max, med, p(N), exactly between two values
// quick
import { Trend } from 'k6/metrics';
const trend = new Trend('trend');
export const options = { iterations: 1, thresholds: { trend: ['avg==5.5', 'min==1', 'max==10', 'med==5.5', 'p(90)==9.1', 'p(95)==9.55', 'p(99.9)<9.992', 'p(0)==1', 'p(100)==10', 'p(50)!=5.5'] } };
export default function () { for (let value = 1; value <= 10; value += 1) trend.add(value); }
