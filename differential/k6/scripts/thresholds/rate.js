// Thresholds of a rate
import { Rate } from 'k6/metrics';
const rate = new Rate('rate');
export const options = { iterations: 4, thresholds: { rate: ['rate>=0.75', 'rate<0.75', 'rate>.5'] } };
export default function () { rate.add(__ITER !== 0); }
