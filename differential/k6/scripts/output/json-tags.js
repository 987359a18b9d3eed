// --out json: vu and iter, metadata, a sample's own tags, submetrics
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import exec from 'k6/execution';
const counter = new Counter('counter'), gauge = new Gauge('gauge', true), rate = new Rate('rate'), trend = new Trend('trend', true);
export const options = { iterations: 2, systemTags: ['group', 'scenario', 'vu', 'iter'], thresholds: { 'counter{a:b}': ['count>0'], trend: ['avg>0', { threshold: 'max>0', abortOnFail: true }] } };
export default function () {
  exec.vu.metrics.metadata.trace = 'id';
  counter.add(1, { a: 'b' }); gauge.add(2); rate.add(true); trend.add(3);
}
