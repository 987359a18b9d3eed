// Thresholds of a gauge: value
import { Gauge } from 'k6/metrics';
const gauge = new Gauge('gauge');
export const options = { iterations: 3, thresholds: { gauge: ['value<3', 'value==2'] } };
export default function () { gauge.add(__ITER); }
