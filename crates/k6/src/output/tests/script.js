// One extra tag at most: k6 writes several in an order of chance.
import { check, group } from "k6";
import { Counter, Trend } from "k6/metrics";

const count = new Counter("counted");
const values = new Trend("values", true);

export const options = {
  vus: 2,
  iterations: 2,
  systemTags: ["scenario", "group", "check", "url", "vu", "iter"],
  thresholds: { counted: ["count>1", "rate<0.1"], "values{place:x}": ["avg<1"], "values{place:y, url:z}": ["avg<1"] },
};

export function setup() {
  count.add(1);
}

export default function () {
  values.add(1e-9, { place: 'a "quoted", ünusual & long = one' });
  values.add(1e21);
  values.add(-0.1);
  group("g", () => check(1, { "is, one": (n) => n === 1 }));
}
