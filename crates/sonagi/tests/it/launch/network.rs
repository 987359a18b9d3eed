//! How late the network before a launched service is itself: a part of the run's figures, whatever its language.

use super::scripts::k6_script;
use super::*;

/// The network's own lateness in a run: at its 99th percentile, and at its latest.
fn lags(run: &Value) -> [f64; 2] {
    ["service.network.lag", "service.network.latest"].map(|metric| {
        let most = &run["watched"][metric]["level"]["max"];
        most.as_f64().unwrap_or_else(|| panic!("no {metric} in {}", run["watched"]))
    })
}

#[track_caller]
fn assert_told(run: &Value) {
    let [p99, most] = lags(run);
    assert!(0.0 < p99 && p99 <= most, "{p99} and {most}");
    assert!(run["service"]["network_late_s"].is_u64(), "{}", run["service"]);
}

#[test]
fn how_late_the_network_is_itself_is_told_though_nothing_is_watched_and_thresholds_may_name_it() {
    let (place, port) = (Place::new(), free_port());
    let command = format!("command: {}", serve(port));
    let script = script(port, 3, &[&command, "limits: { network: { latency: 4ms } }"], "");
    let limit = "plugins: { ensure: {} }\n  ensure: { thresholds: [{ service.network.latest.max: 60000 }] }";
    place.write("near.yml", &script.replacen("config:\n", &format!("config:\n  {limit}\n"), 1));
    let answer = place.sonagi(&["run", "near.yml", "--json", "--no-watch"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let run = answer.json();
    assert_told(&run);
    assert_eq!(run["watched"]["target.cpu"], Value::Null, "the service itself is not watched");
    assert_eq!(run["thresholds"].as_array().map(Vec::len), Some(1), "{}", run["thresholds"]);
    let csv = place.sonagi(&["report", "--csv", place.folders()[0].to_str().unwrap()]).out;
    assert!(csv.lines().next().unwrap().contains("service.network.lag"), "{csv}");
}

#[test]
fn a_k6_test_tells_how_late_the_network_before_its_service_is() {
    let (place, port) = (Place::new(), free_port());
    let launch = format!(
        "command: '{}', ready: 'http://127.0.0.1:{port}/healthz', limits: {{ network: {{ latency: '40ms' }} }}",
        serve(port)
    );
    place.write("far.js", &k6_script(port, &launch).replace("iterations: 5", "vus: 1, duration: '3s'"));
    let answer = place.sonagi(&["run", "far.js", "--runs", "runs"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_told(&place.reported());
}
