// One unnamed scenario that checks nothing.
import { Counter, Gauge, Trend } from "k6/metrics";

const values = new Trend("values");
const times = new Trend("times", true);
const tiny = new Gauge("tiny");
const count = new Counter("count_of_all");
new Counter("never");

export const options = {
  iterations: 1,
  thresholds: { never: ["count<1"], "values{x:y}": ["avg===7"], "values{x:y, z:w}": ["avg<5"] },
};

export default function () {
  for (const ms of [0.0001, 0.5, 999.999, 12345.678, 59999.4, 60000, 61234.5, 3599999, 3600000, 90061001.5, -5]) times.add(ms);
  for (const value of [0, 0.123456789, 1e-7, 1234567.891, 1e21, -5.5]) values.add(value, { x: "y", z: "w" });
  tiny.add(1e-7);
  count.add(1234567.5);
}
