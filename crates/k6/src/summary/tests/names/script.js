// Names that sort apart from their letters' codes and that only look built-in; the unnamed scenario beside named ones.
import { check, group } from "k6";
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

const names = ["http_foo", "http_req_foo", "ws_foo", "vus_x", "iteration_x", "data_foo", "browser", "grpc", "grpc_req_foo", "a1", "a_1", "aB", "Ab", "a9_x", "_b"];
const counts = names.map((name) => new Counter(name));
const rate = new Rate("rrr");
const big = new Gauge("big");
const small = new Gauge("small", true);
const sub = new Trend("Ab_sub");

const once = { executor: "per-vu-iterations", vus: 1, iterations: 1, exec: "one" };
export const options = {
  scenarios: { default: once, Beta: { ...once, startTime: "50ms" }, alpha: { ...once, startTime: "100ms" } },
  thresholds: {
    "rrr{a:b}": ["rate<0.5"],
    "rrr{a:ü}": ["rate<0.5"],
    rrr: ["rate<0.2", "rate!=0.5"],
    "http_foo{scenario:alpha}": ["count<9", "rate > 0"],
    Ab: ["count>0"],
    aB: ["count>0"],
    "Ab_sub{scenario:alpha,group:::gg}": ["p(50)>=0", "max<0"],
    "big{scenario:alpha}": ["value>0"],
    "small{x:y}": ["value<=0"],
  },
};

export function one() {
  counts.forEach((count, at) => count.add(3 + at));
  rate.add(1);
  big.add(123456.789);
  small.add(0.00123456);
  group("gg", () => {
    rate.add(0, { a: "b" });
    sub.add(-3);
    check(1, { is: () => true, "is%not": () => 0 });
  });
  check(1, { is: (n) => n === 2 });
}
