// A metric that nobody adds to is not in the summary
import { Counter, Trend } from 'k6/metrics';
new Counter('unused'); new Trend('unused_too');
export const options = { iterations: 1 };
export default function () {}
