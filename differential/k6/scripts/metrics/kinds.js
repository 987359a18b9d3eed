// Counter, Gauge, Rate, Trend: values, tags, what the summary has of them
// quick
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('counter'), gauge = new Gauge('gauge'), rate = new Rate('rate'), trend = new Trend('trend'), timed = new Trend('timed', true), gaugeTimed = new Gauge('gauge_timed', true), counterTimed = new Counter('counter_timed', true);
export const options = { iterations: 2 };
export default function () {
  counter.add(1.5); counter.add(2, { tag: 'a' });
  gauge.add(3); gauge.add(1);
  rate.add(true); rate.add(0); rate.add(1, { tag: 7 });
  trend.add(1); trend.add(0.25); trend.add(-4);
  timed.add(12.5); gaugeTimed.add(1000); counterTimed.add(5);
  console.log(counter.name, counter.add(1), typeof trend.add);
}
