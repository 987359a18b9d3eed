// The unnamed scenario with groups, told in full.
import { check, group } from "k6";
import { Counter } from "k6/metrics";

const count = new Counter("counted");

export function setup() {
  group("first", () => count.add(1));
}

export default function () {
  count.add(2);
  group("with", () => {
    count.add(3);
    check(1, { "a": () => true });
    group("deep", () => check(1, { "a": () => false, "100%": () => true }));
  });
  group("without", () => {});
}
