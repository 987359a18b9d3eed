// Two scenarios, setup and teardown; a metric of each section; sub-metrics, thresholds that hold and that are crossed.
import { check, group } from "k6";
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

const times = ["http_req_blocked", "http_req_waiting", "http_req_duration", "ws_connecting", "iteration_duration", "browser_web_vital_lcp", "grpc_req_duration", "own_time"];
const counts = ["http_reqs", "ws_msgs_sent", "dropped_iterations", "grpc_streams", "browser_clicks", "Own_b", "own_a", "own_a1", "vus_own", "http_own"];
const all = [...times.map((name) => new Trend(name, true)), ...counts.map((name) => new Counter(name))];
const failed = new Rate("http_req_failed");
const vus = new Gauge("vus");
const temperature = new Gauge("temperature");
const slept = new Counter("slept", true);

export const options = {
  scenarios: {
    zed: { executor: "per-vu-iterations", vus: 1, iterations: 2, exec: "zed" },
    Alpha: { executor: "per-vu-iterations", vus: 1, iterations: 1, exec: "alpha", startTime: "100ms", tags: { area: "x" } },
  },
  thresholds: {
    own_a: ["count>1", "rate < 0.5"],
    "own_a{area:x}": ["count>1000"],
    "own_time{area:x, of:b}": ["p(99.9)<0.5"],
    http_req_waiting: ["med<100"],
    checks: ["rate>0.9"],
    data_sent: ["count<5"],
    "http_req_failed{scenario:none}": ["rate<0.1"],
  },
};

export function setup() {
  all.forEach((metric) => metric.add(1));
  check(1, { "in setup": () => true });
  group("prepare", () => {
    all[0].add(4);
    check(1, { "in prepare": () => false });
  });
  return { token: "abc" };
}

export function zed() {
  all.forEach((metric, at) => metric.add(3.14159 * (at + 1), { of: "b" }));
  failed.add(0);
  failed.add(1);
  temperature.add(-7.25);
  slept.add(90061);
  vus.add(3);
  group("outer", () => {
    check(1, { "is one": (n) => n === 1, "is two": (n) => n === 2 });
    group("inner", () => {
      all[7].add(0.0625);
      for (let n = 0; n < 3; n++) check(n, { "is zero": (m) => m === 0 });
    });
    group("silent", () => {});
  });
}

export function alpha() {
  all.forEach((metric, at) => metric.add(1000.5 * (at + 1) ** 3, { of: "b" }));
  temperature.add(123456.789);
  group("only", () => all[2].add(0));
  check(1, { "is one": (n) => n === 1 });
}

export function teardown() {
  all[0].add(1);
  check(1, { "in teardown": () => true });
}
