// Thresholds on times are in milliseconds
import { Trend } from 'k6/metrics';
import { sleep } from 'k6';
const trend = new Trend('trend', true);
export const options = { iterations: 1, thresholds: { trend: ['avg==1500'], iteration_duration: ['avg>=300', 'avg<3000'] } };
export default function () { trend.add(1500); sleep(0.3); }
