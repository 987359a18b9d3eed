// A rate that setup keeps low: the threshold is crossed
import { sleep } from 'k6';
export const options = { iterations: 1, thresholds: { iterations: ['rate>2'] } };
export function setup() { sleep(2); }
export default function () { sleep(0.1); }
